// Reads KubeVirt's Go source, as text, and prints what virt-render needs of it as JSON:
//
//	structs  Go type -> JSON name -> type and marks, of everything that the roots reach, inlined structs flattened
//	enums    Go type -> its values
//	gates    feature gate -> state
//	schemas  kind -> the CRD's OpenAPI schema, as YAML
//
// Usage: read_kubevirt CHECKOUT ROOT...   with roots such as kubevirt.VirtualMachine
//
// Nothing of the checkout is built or run. A field's value is its Go type, then its marks: omitempty and omitzero of the
// JSON tag, optional and nullable of the comment, Enum=... where the values of this one field are listed.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// The names of packages in our tables; of any other, the last part of its path that is no version.
var shortNames = map[string]string{
	"kubevirt.io/api/core/v1":                                           "kubevirt",
	"kubevirt.io/api/pool/v1alpha1":                                     "poolv1alpha1",
	"k8s.io/apimachinery/pkg/apis/meta/v1":                              "meta",
	"kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1": "cdi",
}

// Where a root's package is found.
var rootPackages = map[string]string{
	"kubevirt":     "kubevirt.io/api/core/v1",
	"instancetype": "kubevirt.io/api/instancetype/v1beta1",
	"pool":         "kubevirt.io/api/pool/v1beta1",
	"poolv1alpha1": "kubevirt.io/api/pool/v1alpha1",
	"cdi":          "kubevirt.io/containerized-data-importer-api/pkg/apis/core/v1beta1",
}

// Structs that encode themselves: they are scalars, whatever fields they have.
var scalars = map[string]bool{
	"resource.Quantity": true, "intstr.IntOrString": true, "meta.Time": true, "meta.MicroTime": true,
	"meta.Duration": true, "meta.FieldsV1": true, "runtime.RawExtension": true,
}

var versionPart = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

type declaration struct {
	expr ast.Expr
	doc  string
	file *ast.File
	pkg  *sourcePackage
}

type sourcePackage struct {
	path  string
	short string
	files []*ast.File
	types map[string]declaration
}

type reader struct {
	checkout string
	packages map[string]*sourcePackage
	structs  map[string]fieldList
	enums    map[string][]string
	queue    []string
	declared map[string]declaration
}

// fieldList is an object whose keys keep their order: that of the source.
type fieldList []struct{ name, value string }

func (fields fieldList) MarshalJSON() ([]byte, error) {
	parts := make([]string, len(fields))
	for i, field := range fields {
		parts[i] = strconv.Quote(field.name) + ":" + strconv.Quote(field.value)
	}
	return []byte("{" + strings.Join(parts, ",") + "}"), nil
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "read_kubevirt: "+format+"\n", arguments...)
	os.Exit(1)
}

func shortName(importPath string) string {
	if name, known := shortNames[importPath]; known {
		return name
	}
	parts := strings.Split(importPath, "/")
	for i := len(parts) - 1; i > 0; i-- {
		if !versionPart.MatchString(parts[i]) {
			return parts[i]
		}
	}
	return parts[0]
}

// parseFolder parses the Go files of a folder that are no tests; nil where there is no such folder.
func parseFolder(folder string) []*ast.File {
	names, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	sort.Strings(names)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			fail("%v", err)
		}
		files = append(files, file)
	}
	return files
}

// load returns a package of the checkout, from its staging area or what it vendors; nil where it has none.
func (r *reader) load(importPath string) *sourcePackage {
	if known, done := r.packages[importPath]; done {
		return known
	}
	var files []*ast.File
	for _, parent := range []string{"staging/src", "vendor"} {
		if files = parseFolder(filepath.Join(r.checkout, parent, importPath)); files != nil {
			break
		}
	}
	if files == nil {
		r.packages[importPath] = nil
		return nil
	}
	pkg := &sourcePackage{path: importPath, short: shortName(importPath), files: files, types: map[string]declaration{}}
	for _, file := range files {
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				typeSpec := spec.(*ast.TypeSpec)
				doc := general.Doc.Text()
				if typeSpec.Doc != nil {
					doc = typeSpec.Doc.Text()
				}
				pkg.types[typeSpec.Name.Name] = declaration{typeSpec.Type, doc, file, pkg}
			}
		}
	}
	r.packages[importPath] = pkg
	return pkg
}

// imported returns the package that a file calls *name*.
func (r *reader) imported(file *ast.File, name string) *sourcePackage {
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		if spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(importPath) == name {
			return r.load(importPath)
		}
	}
	return nil
}

// typeName writes a type down: named structs stay names and are queued, all else is followed to what it is.
func (r *reader) typeName(expr ast.Expr, at declaration) string {
	switch typed := expr.(type) {
	case *ast.StarExpr:
		return "*" + r.typeName(typed.X, at)
	case *ast.ArrayType:
		return "[]" + r.typeName(typed.Elt, at)
	case *ast.MapType:
		return "map[string]" + r.typeName(typed.Value, at)
	case *ast.Ident:
		if named, known := at.pkg.types[typed.Name]; known {
			return r.named(at.pkg.short+"."+typed.Name, named)
		}
		return typed.Name
	case *ast.SelectorExpr:
		pkg := r.imported(at.file, typed.X.(*ast.Ident).Name)
		if pkg == nil {
			fail("%s imports %s.%s, which the checkout does not have", at.pkg.path, typed.X, typed.Sel.Name)
		}
		named, known := pkg.types[typed.Sel.Name]
		if !known {
			fail("%s has no type %s", pkg.path, typed.Sel.Name)
		}
		return r.named(pkg.short+"."+typed.Sel.Name, named)
	case *ast.InterfaceType:
		return "any"
	}
	fail("a type of %s that is not understood: %T", at.pkg.path, expr)
	return ""
}

func (r *reader) named(name string, of declaration) string {
	if scalars[name] {
		return name
	}
	if _, isStruct := of.expr.(*ast.StructType); isStruct {
		r.declared[name] = of
		r.queue = append(r.queue, name)
		return name
	}
	underlying := r.typeName(of.expr, of)
	if underlying != "string" {
		return underlying
	}
	if values := r.values(name, of); values != nil {
		r.enums[name] = values
		return "enum:" + name
	}
	return "string"
}

// textType returns the name of the type of a text that has one of its own, else nothing.
func (r *reader) textType(expr ast.Expr, at declaration) string {
	if pointer, isPointer := expr.(*ast.StarExpr); isPointer {
		expr = pointer.X
	}
	short, name := at.pkg.short, ""
	switch typed := expr.(type) {
	case *ast.Ident:
		if _, known := at.pkg.types[typed.Name]; known {
			name = typed.Name
		}
	case *ast.SelectorExpr:
		short, name = r.imported(at.file, typed.X.(*ast.Ident).Name).short, typed.Sel.Name
	}
	if name == "" || strings.TrimPrefix(r.typeName(expr, at), "*") != "string" {
		return ""
	}
	return short + "." + name
}

var marker = regexp.MustCompile(`(?m)^\+kubebuilder:validation:Enum=(.*)$`)

func listed(doc string) []string {
	found := marker.FindStringSubmatch(doc)
	if found == nil {
		return nil
	}
	var values []string
	for _, value := range strings.Split(strings.TrimSpace(found[1]), ";") {
		values = append(values, strings.Trim(value, `"`))
	}
	return values
}

// values returns what a text type may be: by the comment of the type, or by its constants in all packages (+enum).
func (r *reader) values(name string, of declaration) []string {
	if values := listed(of.doc); values != nil {
		return values
	}
	if !regexp.MustCompile(`(?m)^\+enum$`).MatchString(of.doc) {
		return nil
	}
	_, typeName, _ := strings.Cut(name, ".")
	found := map[string]bool{}
	for _, pkg := range r.packages {
		if pkg == nil {
			continue
		}
		for _, file := range pkg.files {
			for value := range r.constants(pkg, file, of.pkg, typeName) {
				found[value] = true
			}
		}
	}
	var values []string
	for value := range found {
		values = append(values, value)
	}
	sort.Strings(values)
	return values
}

// constants returns the values of a file's constants of the type *typeName* of the package *owner*.
func (r *reader) constants(pkg *sourcePackage, file *ast.File, owner *sourcePackage, typeName string) map[string]bool {
	found := map[string]bool{}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			switch typed := value.Type.(type) {
			case *ast.Ident:
				if pkg != owner || typed.Name != typeName {
					continue
				}
			case *ast.SelectorExpr:
				if typed.Sel.Name != typeName || r.imported(file, typed.X.(*ast.Ident).Name) != owner {
					continue
				}
			default:
				continue
			}
			for _, expr := range value.Values {
				if literal, ok := expr.(*ast.BasicLit); ok {
					text, _ := strconv.Unquote(literal.Value)
					found[text] = true
				}
			}
		}
	}
	return found
}

// fields returns the fields of a struct, those of inlined structs in their place.
func (r *reader) fields(of declaration) fieldList {
	var found fieldList
	for _, field := range of.expr.(*ast.StructType).Fields.List {
		text := "``"
		if field.Tag != nil {
			text = field.Tag.Value
		}
		tag, _ := strconv.Unquote(text)
		options := strings.Split(reflect.StructTag(tag).Get("json"), ",")
		embedded := len(field.Names) == 0
		if options[0] == "-" || !embedded && !field.Names[0].IsExported() {
			continue
		}
		if !embedded && options[0] == "" {
			options[0] = field.Names[0].Name
		}
		if options[0] == "" { // inlined
			queued := len(r.queue)
			name := strings.TrimPrefix(r.typeName(field.Type, of), "*")
			r.queue = r.queue[:queued] // no field has it as its type
			found = append(found, r.fields(r.declared[name])...)
			continue
		}
		found = append(found, struct{ name, value string }{options[0], r.field(field, options[1:], of)})
	}
	return found
}

// field writes a field down: its type, then its marks.
func (r *reader) field(field *ast.Field, options []string, of declaration) string {
	doc := field.Doc.Text()
	text := r.typeName(field.Type, of)
	values := listed(doc)
	if name := r.textType(field.Type, of); name != "" && values != nil {
		r.enums[name] = values
		text = strings.TrimSuffix(text, "string") + "enum:" + name
		values = nil
	}
	words := []string{text}
	for _, option := range options {
		if option == "omitempty" || option == "omitzero" {
			words = append(words, option)
		}
	}
	for _, mark := range []string{"optional", "nullable"} {
		if regexp.MustCompile(`(?m)^\s*\+` + mark + `$`).MatchString(doc) {
			words = append(words, mark)
		}
	}
	if values != nil {
		words = append(words, "Enum="+strings.Join(values, ";"))
	}
	return strings.Join(words, " ")
}

// gates returns the state of each feature gate that is registered.
func (r *reader) gates() map[string]string {
	found := map[string]string{}
	for _, folder := range []string{"pkg/virt-config/featuregate", "pkg/virt-config/deprecation"} {
		files := parseFolder(filepath.Join(r.checkout, folder))
		names := map[string]string{}
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				if spec, ok := node.(*ast.ValueSpec); ok {
					for i, expr := range spec.Values {
						if literal, ok := expr.(*ast.BasicLit); ok {
							names[spec.Names[i].Name], _ = strconv.Unquote(literal.Value)
						}
					}
				}
				return true
			})
		}
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				call, ok := node.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 {
					return true
				}
				function, isName := call.Fun.(*ast.Ident)
				gate, isLiteral := call.Args[0].(*ast.CompositeLit)
				if !isName || function.Name != "RegisterFeatureGate" || !isLiteral {
					return true
				}
				parts := map[string]string{}
				for _, element := range gate.Elts {
					pair := element.(*ast.KeyValueExpr)
					if name, ok := pair.Value.(*ast.Ident); ok {
						parts[pair.Key.(*ast.Ident).Name] = name.Name
					}
				}
				name, known := names[parts["Name"]]
				if !known || parts["State"] == "" {
					fail("a feature gate that is not understood: %v", parts)
				}
				found[name] = parts["State"]
				return true
			})
		}
	}
	return found
}

// schemas returns the CRDs: constants of one map, kind -> YAML.
func (r *reader) schemas() map[string]string {
	name := filepath.Join(r.checkout, "pkg/virt-operator/resource/generate/components/validations_generated.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		fail("%v", err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		if pair, ok := node.(*ast.KeyValueExpr); ok {
			kind, text := literal(pair.Key), literal(pair.Value)
			if kind != "" && text != "" {
				found[kind] = text
			}
		}
		return true
	})
	return found
}

// literal returns a constant text, which may be a sum of texts.
func literal(expr ast.Expr) string {
	switch typed := expr.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(typed.Value)
		return text
	case *ast.BinaryExpr:
		return literal(typed.X) + literal(typed.Y)
	}
	return ""
}

func main() {
	if len(os.Args) < 3 {
		fail("usage: read_kubevirt CHECKOUT ROOT...")
	}
	r := &reader{
		checkout: os.Args[1],
		packages: map[string]*sourcePackage{},
		structs:  map[string]fieldList{},
		enums:    map[string][]string{},
		declared: map[string]declaration{},
	}
	for _, importPath := range rootPackages { // constants of an enumeration may stand in any of them
		r.load(importPath)
	}
	r.load("k8s.io/api/core/v1")
	roots := map[string]bool{}
	for _, root := range os.Args[2:] {
		short, name, _ := strings.Cut(root, ".")
		pkg := r.load(rootPackages[short])
		if pkg == nil {
			continue // pools had another version once
		}
		of, known := pkg.types[name]
		if !known {
			fail("%s has no type %s", pkg.path, name)
		}
		roots[root] = true
		r.named(root, of)
	}
	for len(r.queue) > 0 {
		name := r.queue[0]
		r.queue = r.queue[1:]
		if _, done := r.structs[name]; done {
			continue
		}
		of := r.declared[name]
		if roots[name] { // the status is never read from a manifest
			kept := &ast.StructType{Fields: &ast.FieldList{}}
			for _, field := range of.expr.(*ast.StructType).Fields.List {
				if field.Tag == nil || !strings.Contains(field.Tag.Value, `json:"status`) {
					kept.Fields.List = append(kept.Fields.List, field)
				}
			}
			of.expr = kept
		}
		r.structs[name] = r.fields(of)
	}
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(map[string]any{
		"structs": r.structs, "enums": r.enums, "gates": r.gates(), "schemas": r.schemas(),
	}); err != nil {
		fail("%v", err)
	}
}
