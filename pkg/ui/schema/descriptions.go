package schema

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// descriptions are the comments of types, fields and values in the code.
type descriptions struct {
	Types  map[string]string   `json:"types"`
	Fields map[string]string   `json:"fields"`
	Values map[string][]string `json:"values"`
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
