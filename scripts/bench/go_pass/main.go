// Decodes and encodes the YAML files of a folder with sigs.k8s.io/yaml: what any Go tool of this ecosystem pays before
// it does anything.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := filepath.WalkDir(os.Args[1], func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, document := range bytes.Split(data, []byte("\n---\n")) {
			var tree any
			if err := yaml.Unmarshal(document, &tree); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			text, err := yaml.Marshal(tree)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "---\n%s", text)
		}
		return nil
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
