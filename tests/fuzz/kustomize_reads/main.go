// What kustomize v5.8.1 would read and fetch for a kustomization.yaml, by its own decoder and its own build.
//
// Standard input: kustomizations one after the other, each behind its length in four bytes, big-endian. Standard
// output: a line of JSON each. Files are in memory and nothing answers on the network, so nothing is read or fetched;
// what would have been is said.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const (
	bounds = "/repository"
	folder = bounds + "/app"
	own    = "only-to-have-a-resource"
	object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
)

// Answer is what one kustomization makes kustomize do.
type Answer struct {
	// Fetched are the addresses that would be asked, "git" for a repository that would be cloned.
	Fetched []string `json:"fetched"`
	// Opened are the files of the tree that would be read.
	Opened []string `json:"opened"`
}

// tree is what there is to read.
var tree = map[string]string{
	folder + "/" + own:               object,
	folder + "/a":                    object,
	folder + "/b/kustomization.yaml": "resources: [a]\n",
	folder + "/b/a":                  object,
	bounds + "/b/kustomization.yaml": "resources: [a]\n",
	bounds + "/b/a":                  object,
	"/b/kustomization.yaml":          "resources: [a]\n",
	"/b/a":                           object,
	"/a":                             object,
}

// refusing notes the addresses it is asked for and gives no answer.
type refusing struct{ asked *[]string }

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	*r.asked = append(*r.asked, request.URL.String())
	return nil, errors.New("no network")
}

// watched notes the files that are opened.
type watched struct {
	filesys.FileSystem
	opened *[]string
}

func (w watched) ReadFile(path string) ([]byte, error) {
	content, err := w.FileSystem.ReadFile(path)
	if err == nil && filepath.Base(path) != own {
		*w.opened = append(*w.opened, filepath.Clean(path))
	}
	return content, err
}

func main() {
	log.SetOutput(io.Discard)
	os.Setenv("PATH", "") // no git
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		os.Exit(1)
	}
	os.Stderr = null // kustomize's warnings
	var asked []string
	http.DefaultTransport = refusing{&asked}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var length uint32
		if binary.Read(in, binary.BigEndian, &length) != nil {
			return
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(in, data); err != nil {
			os.Exit(1)
		}
		answer := asking(data, &asked)
		if json.NewEncoder(out).Encode(answer) != nil || out.Flush() != nil {
			os.Exit(1)
		}
	}
}

// asking builds data as it is, and then each of its entries alone, since a build ends with the first that is missing.
func asking(data []byte, asked *[]string) Answer {
	answer := Answer{Fetched: []string{}, Opened: []string{}}
	build(data, &answer, asked)
	var whole types.Kustomization
	if whole.Unmarshal(data) != nil {
		return answer
	}
	whole.FixKustomization()
	for _, one := range alone(whole) {
		if text, err := json.Marshal(one); err == nil {
			build(text, &answer, asked)
		}
	}
	for _, list := range []*[]string{&answer.Fetched, &answer.Opened} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return answer
}

func build(data []byte, answer *Answer, asked *[]string) {
	defer func() { _ = recover() }() // kustomize panics at some input
	files := watched{filesys.MakeFsInMemory(), &answer.Opened}
	for path, text := range tree {
		if files.WriteFile(path, []byte(text)) != nil {
			return
		}
	}
	if files.WriteFile(folder+"/kustomization.yaml", data) != nil {
		return
	}
	*asked = nil
	_, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	answer.Fetched = append(answer.Fetched, *asked...)
	if err != nil && strings.Contains(err.Error(), "no 'git' program on path") {
		answer.Fetched = append(answer.Fetched, "git")
	}
}

// alone are kustomizations that have one entry of whole each.
func alone(whole types.Kustomization) []types.Kustomization {
	var found []types.Kustomization
	add := func(set func(*types.Kustomization)) {
		one := types.Kustomization{TypeMeta: whole.TypeMeta, Resources: []string{own}}
		set(&one)
		found = append(found, one)
	}
	lists := reflect.ValueOf(whole)
	for _, field := range []string{
		"Resources", "Components", "Crds", "Configurations", "Generators", "Transformers", "Validators",
	} {
		for _, name := range lists.FieldByName(field).Interface().([]string) {
			add(func(k *types.Kustomization) {
				reflect.ValueOf(k).Elem().FieldByName(field).Set(reflect.ValueOf([]string{name}))
			})
		}
	}
	for _, one := range whole.PatchesStrategicMerge {
		add(func(k *types.Kustomization) { k.PatchesStrategicMerge = []types.PatchStrategicMerge{one} })
	}
	for _, one := range whole.Patches {
		add(func(k *types.Kustomization) { k.Patches = []types.Patch{one} })
	}
	for _, one := range whole.PatchesJson6902 {
		add(func(k *types.Kustomization) { k.PatchesJson6902 = []types.Patch{one} })
	}
	for _, one := range whole.Replacements {
		add(func(k *types.Kustomization) { k.Replacements = []types.ReplacementField{one} })
	}
	if path, ok := whole.OpenAPI["path"]; ok {
		add(func(k *types.Kustomization) { k.OpenAPI = map[string]string{"path": path} })
	}
	for _, one := range whole.ConfigMapGenerator {
		for _, args := range sources(one.GeneratorArgs) {
			add(func(k *types.Kustomization) {
				k.ConfigMapGenerator = []types.ConfigMapArgs{{GeneratorArgs: args}}
			})
		}
	}
	for _, one := range whole.SecretGenerator {
		for _, args := range sources(one.GeneratorArgs) {
			add(func(k *types.Kustomization) {
				k.SecretGenerator = []types.SecretArgs{{GeneratorArgs: args}}
			})
		}
	}
	return found
}

func sources(args types.GeneratorArgs) []types.GeneratorArgs {
	var found []types.GeneratorArgs
	for _, name := range args.FileSources {
		found = append(found, types.GeneratorArgs{Name: "g", KvPairSources: types.KvPairSources{FileSources: []string{name}}})
	}
	for _, name := range args.EnvSources {
		found = append(found, types.GeneratorArgs{Name: "g", KvPairSources: types.KvPairSources{EnvSources: []string{name}}})
	}
	return found
}
