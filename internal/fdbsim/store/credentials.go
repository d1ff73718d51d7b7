package store

import (
	"encoding/json"
	"strings"
)

// secretOf is the secret key that a tool uses for a URL: the URL's own, or the
// one of the first file of FDB_BLOB_CREDENTIALS that names account and host.
func secretOf(u URL, files Files, env map[string]string) string {
	if u.secret != "" {
		return u.secret
	}
	for name := range strings.SplitSeq(env["FDB_BLOB_CREDENTIALS"], ":") {
		if name == "" {
			continue
		}
		content, err := files.ReadFile(name)
		if err != nil {
			continue
		}
		if secret := secretIn(content, u); secret != "" {
			return secret
		}
	}
	return ""
}

func secretIn(content []byte, u URL) string {
	var file struct {
		Accounts map[string]struct{ Secret string }
	}
	if json.Unmarshal(content, &file) != nil {
		return ""
	}
	host, _, _ := strings.Cut(u.host, ":")
	for _, account := range []string{u.key + "@" + host, u.key + "@" + u.host} {
		if found, ok := file.Accounts[account]; ok {
			return found.Secret
		}
	}
	return ""
}
