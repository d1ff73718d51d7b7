package dumps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
)

// decode decodes JSON and keeps numbers as they are written.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// edited returns an object after a change; itself where it is no object.
func edited(raw json.RawMessage, change func(map[string]any) any) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	var o map[string]any
	if decode(raw, &o) != nil {
		return raw
	}
	again, err := json.Marshal(change(o))
	if err != nil {
		return raw
	}
	return again
}

// secret hides the values of a Secret. Certificates are public, and their expiry is shown.
func (r *redaction) secret(o map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		values, _ := o[field].(map[string]any)
		for key, value := range values {
			text, _ := value.(string)
			plain, err := base64.StdEncoding.DecodeString(text)
			if field == "stringData" || err != nil {
				plain = []byte(text)
			}
			kept := certificates(plain)
			if len(kept) == 0 || !bytes.Equal(kept, plain) {
				r.hide(secretObjects, string(plain))
				r.hide(secretObjects, text)
			}
			values[key] = base64.StdEncoding.EncodeToString(kept)
		}
	}
	if metadata, is := o["metadata"].(map[string]any); is {
		delete(metadata, "annotations") // kubectl apply repeats all values there
		delete(metadata, "managedFields")
	}
}

// certificates returns the certificates of a text in PEM, and nothing else of it.
func certificates(text []byte) []byte {
	var kept bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			block.Headers = nil
			_ = pem.Encode(&kept, block) // writing to memory does not fail
		}
	}
	return kept.Bytes()
}

// eachText replaces every text of a dump by what change returns for it. The path is that of the
// file; empty for facts.
func (d *Dump) eachText(change func(path, text string) string) {
	fact := func(text string) string { return change("", text) }
	raw := func(text json.RawMessage) json.RawMessage {
		return edited(text, func(o map[string]any) any { return eachString(o, fact) })
	}
	for i := range d.Lists {
		for j := range d.Lists[i].Items {
			d.Lists[i].Items[j] = raw(d.Lists[i].Items[j])
		}
	}
	for i := range d.Singles {
		d.Singles[i].Object = raw(d.Singles[i].Object)
	}
	for i := range d.Runs {
		run := &d.Runs[i]
		run.Stdin, run.Stdout, run.Stderr = fact(run.Stdin), fact(run.Stdout), fact(run.Stderr)
		for j := range run.Argv {
			run.Argv[j] = fact(run.Argv[j])
		}
		if run.Failure != nil {
			run.Failure.Message = fact(run.Failure.Message)
		}
	}
	for i := range d.Sidecars {
		d.Sidecars[i].Report, d.Sidecars[i].Failure = raw(d.Sidecars[i].Report), fact(d.Sidecars[i].Failure)
	}
	for path, content := range d.Files {
		d.Files[path] = []byte(change(path, string(content)))
	}
	for i := range d.Manifest.Unread {
		d.Manifest.Unread[i].Reason = fact(d.Manifest.Unread[i].Reason)
	}
}

// eachString replaces every text within a decoded JSON value.
func eachString(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case map[string]any:
		for key, child := range v {
			v[key] = eachString(child, change)
		}
	case []any:
		for i, child := range v {
			v[i] = eachString(child, change)
		}
	}
	return v
}

// noteNames notes what names an object: its name, its namespace, and its labels, which select it.
func (r *redaction) noteNames(o map[string]any) {
	for _, field := range []string{"name", "namespace", "nodeName", "containerName"} {
		if text, is := o[field].(string); is {
			r.names.WriteString(text + "\n")
		}
	}
	labels, _ := o["labels"].(map[string]any)
	for _, label := range labels {
		if text, is := label.(string); is {
			r.names.WriteString(text + "\n")
		}
	}
}
