package admin

import (
	"bytes"
	"strings"
	"testing"
)

func TestTokensAreEscapedForTheFdbcliLexer(t *testing.T) {
	cases := map[string]struct{ token, want string }{
		"an address":   {"10.1.2.3:4501", "10.1.2.3:4501"},
		"a locality":   {"locality_instance_id:storage-1", "locality_instance_id:storage-1"},
		"nothing":      {"", `""`},
		"a lock key":   {"\xff\x02/org/global", `\xff\x02/org/global`},
		"an injection": {"a; kill", `a\x3b\x20kill`},
		"regions":      {`regions=[{"id":"a"}]`, `regions=\x5b\x7b\x22id\x22:\x22a\x22\x7d\x5d`},
		"line ends":    {"a\r\n", `a\x0d\x0a`},
		"a backslash":  {`\`, `\x5c`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := encodeToken(c.token); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestKeyEncodingMatchesFdbcliOutput has what FoundationDB 7.3.79 printed for these bytes.
func TestKeyEncodingMatchesFdbcliOutput(t *testing.T) {
	content := []byte("'` \\\"\x00\n\t\x7f~\xff;<=>")
	const printed = "'` \\\\\"\\x00\\x0a\\x09\\x7f~\\xff;<=>"
	if got := printable(content); got != printed {
		t.Errorf("got %s, want %s", got, printed)
	}
	got, err := unprintable(printed)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %q (%v), want %q", got, err, content)
	}
}

func TestInvalidFdbcliEscapesAreErrors(t *testing.T) {
	for _, text := range []string{`\`, `\x`, `\x4`, `\xzz`, `\n`, `\u0041`} {
		if got, err := unprintable(text); err == nil {
			t.Errorf("%s: got %q, want an error", text, got)
		}
	}
}

func FuzzPrinting(f *testing.F) {
	f.Add([]byte("'` \\\"\x00\n\t\x7f~\xff"))
	f.Add([]byte(`\\x41`))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := unprintable(printable(content))
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%q became %q (%v)", content, got, err)
		}
		token := encodeToken(string(content))
		if strings.ContainsAny(token, " ;\t\r\n'`") {
			t.Errorf("%q became the token %q", content, token)
		}
	})
}

func FuzzUnprintable(f *testing.F) {
	for _, seed := range []string{`\x00a\\`, `\x4`, "`k' is `v'", "plain"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		content, err := unprintable(text)
		if err != nil {
			return
		}
		again, err := unprintable(printable(content))
		if err != nil || !bytes.Equal(again, content) {
			t.Errorf("%q: %q became %q (%v)", text, content, again, err)
		}
	})
}
