package ui

import (
	"bytes"
	"strings"
	"testing"
)

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
