package ui

import (
	"bytes"
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

func TestDocumentsNameCharactersThatControlATerminal(t *testing.T) {
	text := "a\x7fb\u009b2J\u202ec\u2028\U000e0041\x1b[2J\r::error::例"
	given := map[string]string{"message": text}
	for name, tc := range map[string]struct {
		print func() ([]byte, error)
		read  func([]byte, any) error
	}{
		"JSON": {func() ([]byte, error) {
			var b bytes.Buffer
			err := WriteJSON(&b, given)
			return b.Bytes(), err
		}, json.Unmarshal},
		"YAML": {func() ([]byte, error) { return YAML(given) }, func(b []byte, into any) error { return yaml.Unmarshal(b, into) }},
	} {
		t.Run(name, func(t *testing.T) {
			printed, err := tc.print()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range string(printed) {
				if phrase.IsControl(r) && r != '\n' {
					t.Errorf("%U is in %q", r, printed)
				}
			}
			var again map[string]string
			if err := tc.read(printed, &again); err != nil || again["message"] != text {
				t.Errorf("read %q, %v from %s", again["message"], err, printed)
			}
		})
	}
}

func TestPlainDocumentsArePrintedAsBlocksOfYAML(t *testing.T) {
	got, err := YAML(map[string]string{"message": "例"})
	if err != nil || string(got) != "message: 例\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
