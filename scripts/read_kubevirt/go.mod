module virt-render.dev/read_kubevirt

go 1.22
