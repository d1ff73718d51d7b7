package commandstest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/commands/tools"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/schema"
)

// Validators judge documents by kind. They are closed: a field that the schema does not
// name fails as well.
var Validators = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, kind := range tools.AllKinds() {
		text, err := json.Marshal(kind.Schema(schema.Options{Closed: true}))
		if err != nil {
			panic(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		if err := c.AddResource("schema.json", document); err != nil {
			panic(err)
		}
		all[kind.Name] = c.MustCompile("schema.json") // it is a schema itself, too
	}
	return all
})

// Valid checks every document in a text, one after the other, and returns their kinds.
func Valid(t *testing.T, where string, text []byte) []string {
	t.Helper()
	var kinds []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		var document map[string]any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return kinds
		}
		if err != nil {
			t.Errorf("%s: %v in %s", where, err, text)
			return kinds
		}
		if frame, recorded := document["frame"].(map[string]any); recorded {
			document = frame
		}
		kind, _ := document["kind"].(string)
		if document["event"] != nil {
			kind = "ReconcileEvent"
		}
		kinds = append(kinds, kind)
		switch validator := Validators()[kind]; {
		case document["$schema"] != nil: // a schema, not one of our documents
		case document["apiVersion"] == "v1": // of Kubernetes
		case validator == nil:
			t.Errorf("%s: a document of kind %q, which has no schema; pkg/ui/kinds.go lists them", where, kind)
		default:
			if err := validator.Validate(document); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		}
	}
}
