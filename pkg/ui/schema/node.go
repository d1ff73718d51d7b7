package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

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
