// Package schema describes Go types as JSON Schema 2020-12. It reads types and nothing
// else: no document, no file, no clock.
package schema

import (
	"bytes"
	_ "embed"
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"
)

// descriptions are the comments of types, fields and values in the code.
type descriptions struct {
	Types map[string]string `json:"types"`
	// Fields are those of each type.
	Fields map[string]map[string]string `json:"fields"`
	Values map[string][]string          `json:"values"`
}

//go:embed descriptions.json
var described []byte

// known is what is embedded. TestSchemaDescriptionsMatchTheCodeComments writes it with -update.
var known = sync.OnceValue(func() descriptions {
	var d descriptions
	if err := json.Unmarshal(described, &d); err != nil {
		panic(err) // the file is part of the program
	}
	return d
})

// dialect names the version of JSON Schema that is written.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Node is a schema, or part of one. Empty fields are left out.
type Node struct {
	Dialect     string `json:"$schema,omitempty"`
	Ref         string `json:"$ref,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Type is one name, or several of which any fits.
	Type       any        `json:"type,omitempty"`
	Format     string     `json:"format,omitempty"`
	Const      string     `json:"const,omitempty"`
	Enum       []string   `json:"enum,omitempty"`
	Items      *Node      `json:"items,omitempty"`
	Properties Properties `json:"properties,omitempty"`
	Required   []string   `json:"required,omitempty"`
	// Additional is the schema of properties that are not named, or false for none.
	Additional any             `json:"additionalProperties,omitempty"`
	AnyOf      []*Node         `json:"anyOf,omitempty"`
	OneOf      []*Node         `json:"oneOf,omitempty"`
	Defs       map[string]Node `json:"$defs,omitempty"`
}

// Property is a named part of an object.
type Property struct {
	Name string
	Node *Node
}

// Properties keep the order in which documents have them.
type Properties []Property

// MarshalJSON writes an object.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, property := range p {
		text, err := json.Marshal(property.Node)
		if err != nil {
			return nil, fmt.Errorf("property %s: %w", property.Name, err)
		}
		separator := ","
		if i == 0 {
			separator = "{"
		}
		fmt.Fprintf(&b, "%s%q:%s", separator, property.Name, text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// fix makes a property have one value in all documents of a kind.
func (n *Node) fix(name, value string) {
	for _, property := range n.Properties {
		if property.Name == name {
			property.Node.Const = value
		}
	}
}

// orNull is a schema that null fits as well.
func orNull(n *Node) *Node {
	switch t := n.Type.(type) {
	case string:
		if len(n.Enum) == 0 {
			n.Type = []string{t, "null"}
			return n
		}
	case nil:
		if n.Ref == "" { // anything fits
			return n
		}
	}
	return &Node{AnyOf: []*Node{n, {Type: "null"}}}
}

// Options are how types are described.
type Options struct {
	// Closed forbids properties that are not described. Documents may gain fields, so
	// only tests close them.
	Closed bool
}

// Document returns the schema of the documents of one kind, whose Go type is that of example.
// constants are properties that have one value in all of them.
func Document(title string, example any, constants map[string]string, o Options) Node {
	d := describer{options: o, defs: map[string]Node{}, types: map[string]reflect.Type{}}
	n := d.object(reflect.TypeOf(example), constants)
	n.Dialect, n.Title, n.Defs = dialect, title, d.defs
	return *n
}

// Fields returns the names of the fields that documents of a struct have in JSON, in their order.
func Fields(t reflect.Type) []string {
	d := describer{defs: map[string]Node{}, types: map[string]reflect.Type{}}
	var names []string
	for _, p := range d.object(t, nil).Properties {
		names = append(names, p.Name)
	}
	return names
}

// Variant is one of several kinds of lines in one stream.
type Variant struct {
	// Value is the value of the property that distinguishes them.
	Value   string
	Example any
}

// OneOf returns the schema of lines that a property distinguishes.
func OneOf(title, property string, variants []Variant, o Options) Node {
	d := describer{options: o, defs: map[string]Node{}, types: map[string]reflect.Type{}}
	n := Node{Dialect: dialect, Title: title, Type: "object"}
	for _, v := range variants {
		one := d.object(reflect.TypeOf(v.Example), map[string]string{property: v.Value})
		one.Title = v.Value
		n.OneOf = append(n.OneOf, one)
	}
	n.Defs = d.defs
	return n
}

// describer collects the structs that a schema refers to.
type describer struct {
	options Options
	defs    map[string]Node
	types   map[string]reflect.Type // of the definitions
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

func (d *describer) node(t reflect.Type) *Node {
	if forms, has := reflect.TypeAssert[interface{ SchemaTypes() []string }](reflect.Zero(t)); has {
		return &Node{Type: forms.SchemaTypes(), Items: &Node{Type: "string"}}
	}
	switch {
	case t == timeType:
		return &Node{Type: "string", Format: "date-time"}
	case t.Implements(marshalerType) && t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface:
		return &Node{Type: "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.node(t.Elem())
	case reflect.Struct:
		return d.reference(t)
	case reflect.Slice, reflect.Array:
		return &Node{Type: "array", Items: d.node(t.Elem())}
	case reflect.Map:
		return &Node{Type: "object", Additional: d.node(t.Elem())}
	case reflect.Interface:
		return anything(t)
	default:
		return &Node{Type: scalar(t), Enum: known().Values[nameOf(t)]}
	}
}

// anything is an object where the interface has methods: those are of structs.
func anything(t reflect.Type) *Node {
	if t.NumMethod() == 0 {
		return &Node{}
	}
	return &Node{Type: "object"}
}

func scalar(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	default:
		panic(fmt.Sprintf("%s has no place in a document", t)) // a test describes all kinds
	}
}

// reference describes a struct once and refers to it.
func (d *describer) reference(t reflect.Type) *Node {
	name := definitionOf(t)
	if of := d.types[name]; of != nil && of != t { // of another package, with the same name
		name = nameOf(t)
	}
	d.types[name] = t
	if _, described := d.defs[name]; !described {
		d.defs[name] = Node{} // it may contain itself
		n := d.object(t, nil)
		n.Description = known().Types[nameOf(t)]
		d.defs[name] = *n
	}
	return &Node{Ref: "#/$defs/" + name}
}

func (d *describer) object(t reflect.Type, constants map[string]string) *Node {
	n := &Node{Type: "object"}
	if d.options.Closed {
		n.Additional = false
	}
	d.fields(n, t)
	for name, value := range constants {
		n.fix(name, value)
	}
	return n
}

// fields are those that encoding/json writes, embedded ones in line.
func (d *describer) fields(n *Node, t reflect.Type) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			d.fields(n, f.Type)
		case !f.IsExported(), name == "-":
		default:
			d.field(n, t, f)
		}
	}
}

// field adds one. A pointer that is always written is null where its value is unknown; a list
// is written as one even when it is empty, unless its tag allows null.
func (d *describer) field(n *Node, owner reflect.Type, f reflect.StructField) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		name = f.Name
	}
	value := d.node(f.Type)
	if !strings.Contains(options, "omitempty") {
		n.Required = append(n.Required, name)
		if f.Type.Kind() == reflect.Pointer || f.Tag.Get("schema") == "nullable" {
			value = orNull(value)
		}
	}
	value.Description = known().Fields[nameOf(owner)][f.Name]
	n.Properties = append(n.Properties, Property{name, value})
}

// nameOf is a type's name with its package's, as code writes it.
func nameOf(t reflect.Type) string { return path.Base(t.PkgPath()) + "." + t.Name() }

// definitionOf is a type's name in a schema. That of a document has no package, so that a schema
// does not change with the place of the code.
func definitionOf(t reflect.Type) string {
	if dir := path.Dir(t.PkgPath()); path.Base(dir) == "inspect" || path.Base(t.PkgPath()) == "inspect" || path.Base(t.PkgPath()) == "ui" {
		return t.Name()
	}
	return nameOf(t)
}
