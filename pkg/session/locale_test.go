package session

import "testing"

func TestPicturesAreInASCIIWhereTheLocaleHasNoUTF8(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want bool
	}{
		"no locale, as in a container":         {nil, false},
		"UTF-8":                                {map[string]string{"LANG": "en_US.UTF-8"}, false},
		"UTF-8, spelled as the C library does": {map[string]string{"LC_CTYPE": "C.utf8"}, false},
		"the C locale":                         {map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		"LC_CTYPE comes before LANG":           {map[string]string{"LC_CTYPE": "POSIX", "LANG": "en_US.UTF-8"}, true},
		"another character set":                {map[string]string{"LANG": "de_DE.ISO-8859-1"}, true},
		"the Linux console":                    {map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			e := &Env{Getenv: func(name string) string { return tc.env[name] }, IsTerminal: func(any) bool { return false }}
			if got := e.Paint(nil).ASCII; got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}
