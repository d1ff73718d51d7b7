package inspect

import (
	"encoding/json"
	"strings"
	"testing"
)

func sealedText(t *testing.T) string {
	t.Helper()
	document := map[string]any{"kind": "Plan", "items": []any{map[string]any{"subject": "a<b", "n": 1.5}}, "holds": []any{}}
	digests, err := Seal(document)
	if err != nil {
		t.Fatal(err)
	}
	document["digests"] = digests
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestASealedDocumentNamesWhatWasModified(t *testing.T) {
	for name, row := range map[string]struct{ from, to, want string }{
		"as printed":                   {"", "", ""},
		"other blanks":                 {`"kind":"Plan"`, `"kind" :  "Plan"`, ""},
		"another way to write a text":  {`a\u003cb`, `a<b`, ""},
		"another way to write a value": {`1.5`, `15e-1`, ""},
		"another text":                 {`a\u003cb`, `a`, "items is not"},
		"another value":                {`1.5`, `1.6`, "items is not"},
		"a field of a part more":       {`"n":1.5`, `"n":1.5,"m":1`, "items is not"},
		"a field more":                 {`"kind":"Plan"`, `"kind":"Plan","Items":[]`, "Items is not"},
		"a field less":                 {`"holds":[],`, ``, "holds is not"},
		"a field twice":                {`"kind":"Plan"`, `"kind":"Plan","holds":[1]`, "holds is not"},
		"two fields":                   {`"holds":[],"items":[{`, `"holds":[1],"items":[{"x":1,`, "holds, items are not"},
		"a digest less":                {`"digests":{"holds"`, `"digests":{"hold"`, "hold, holds are not"},
		"no digests":                   {`"digests":{`, `"digest":{`, "no digests"},
	} {
		text := sealedText(t)
		edited := strings.Replace(text, row.from, row.to, 1)
		if row.from != "" && edited == text {
			t.Fatalf("%s: nothing was edited in %s", name, text)
		}
		_, err := Unseal([]byte(edited))
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

// Programs that decode into structs ignore the case of names, and take the last of two.
func TestAnUnsealedDocumentHasEachNameOnce(t *testing.T) {
	text, err := Unseal([]byte(strings.Replace(sealedText(t), `"kind":"Plan"`, `"kind":"Other","kind":"Plan"`, 1)))
	if err != nil || strings.Contains(string(text), "Other") || !strings.Contains(string(text), `"kind":"Plan"`) {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := Unseal([]byte("{")); text != nil || err == nil {
		t.Errorf("%s, %v", text, err)
	}
}
