package ui

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/ui/layout"
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
		"YAML":  {func() ([]byte, error) { return YAML(given) }, func(b []byte, into any) error { return yaml.Unmarshal(b, into) }},
		"KYAML": {func() ([]byte, error) { return KYAML(given) }, func(b []byte, into any) error { return yaml.Unmarshal(b, into) }},
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

// What a runner of a pipeline would obey is named too, and read again as it was.
func TestDocumentsHaveNoCommandForTheRunnerOfAPipeline(t *testing.T) {
	for _, text := range []string{"a\n::error::x", "::error::x", "x ##[error]y", "##vso[task.complete]", "long " + strings.Repeat("word ", 50) + "::stop-commands::x\n \n  ::a::"} {
		given := map[string]any{"message": text, "of": []any{text}, text: "key"}
		var printed bytes.Buffer
		page := layout.Guarded(&printed)
		document, err := YAML(given)
		if err != nil {
			t.Fatal(err)
		}
		strict, err := KYAML(given)
		if err != nil {
			t.Fatal(err)
		}
		for name, write := range map[string]func() error{
			"JSON":          func() error { return WriteJSON(page, given) },
			"indented JSON": func() error { return WriteIndentedJSON(page, given) },
			"YAML":          func() error { _, err := page.Write(document); return err },
			"KYAML":         func() error { _, err := page.Write(strict); return err },
		} {
			printed.Reset()
			if err := write(); err != nil {
				t.Fatal(err)
			}
			if safe := withoutCommands(printed.Bytes(), inYAML); !bytes.Equal(safe, printed.Bytes()) {
				t.Errorf("%s has a command: %s", name, &printed)
			}
			var again map[string]any
			if err := yaml.Unmarshal(printed.Bytes(), &again); err != nil || !reflect.DeepEqual(again, given) {
				t.Errorf("%s: read %q, %v from %s", name, again, err, &printed)
			}
		}
	}
}

func TestPlainDocumentsArePrintedAsBlocksOfYAML(t *testing.T) {
	got, err := YAML(map[string]string{"message": "例"})
	if err != nil || string(got) != "message: 例\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestXMLHasNoSecretThatItsEncodingDisguises(t *testing.T) {
	type part struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type whole struct {
		Parts []part `xml:"part"`
		One   *part  `xml:"one"`
	}
	secret := `{"password":"hunter2"} ` + "-----BEGIN RSA PRIVATE KEY-----\nhunter2"
	var out bytes.Buffer
	if err := WriteXML(&out, &whole{Parts: []part{{secret, secret}}, One: &part{Message: secret}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || strings.Count(out.String(), "REDACTED") != 6 {
		t.Errorf("got %s", &out)
	}
}
