"""Where objects are found: in files, kustomizations and charts; and where what became of them is written."""
