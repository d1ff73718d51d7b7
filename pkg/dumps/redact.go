package dumps

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// TracesDirectory is where a dump has trace files.
const TracesDirectory = "traces/"

// minLiteral is the length of the shortest secret that is hidden wherever else it is: shorter
// ones are parts of ordinary words.
const minLiteral = 6

// Redact hides all secrets of a dump. The salt is random, and different for each dump: the IDs of
// connection strings are replaced by others that are computed with it.
func Redact(d *Dump, salt string) error {
	r := &redaction{all: redact.Redactors(), salt: salt, counts: map[string]int{}, literals: map[string]string{}}
	before := clustersIn(d)
	r.structures(d)
	r.identities(d)
	r.texts(d)
	if err := keepHashes(d, before); err != nil {
		return err
	}
	d.Manifest.Redacted = r.counts
	return nil
}

// redaction is the redaction of one dump.
type redaction struct {
	all    []redact.Redactor
	salt   string
	counts map[string]int
	// literals are found secrets, with what replaces them wherever they are.
	literals map[string]string
	// names are the names of objects and containers, one a line. A secret that is a part of one is
	// hidden only where it was found: commands would not find the objects otherwise.
	names    strings.Builder
	replacer *strings.Replacer
	// operators is true while the object may be the Deployment of an operator.
	operators bool
}

// ownContainers are the containers whose commands and arguments the operator or this program writes.
var ownContainers = []string{v1beta2.ContainerMain, v1beta2.ContainerSidecar, v1beta2.ContainerInit}

// unknownArguments hides the command and the arguments of containers and probes of users.
func (r *redaction) unknownArguments(o map[string]any) {
	name, _ := o["name"].(string)
	if r.operators || slices.Contains(ownContainers, name) {
		return
	}
	for _, field := range []string{"command", "args"} {
		words, _ := o[field].([]any)
		for i, word := range words {
			if text, is := word.(string); is && text != "" && text != redacted {
				words[i] = redacted
				r.counts[unknownArguments]++
			}
		}
	}
}

// hide returns the replacement of a secret, and remembers the secret.
func (r *redaction) hide(by, secret string) string {
	if secret == "" || secret == redacted {
		return secret
	}
	r.counts[by]++
	if len(secret) >= minLiteral {
		r.literals[secret] = redacted
	}
	return redacted
}

// structures hides what only the structure of objects shows to be a secret.
func (r *redaction) structures(d *Dump) {
	for i := range d.Lists {
		for j := range d.Lists[i].Items {
			d.Lists[i].Items[j] = r.object(d.Lists[i].Resource, d.Lists[i].Items[j])
		}
	}
	for i := range d.Singles {
		d.Singles[i].Object = r.object(d.Singles[i].Resource, d.Singles[i].Object)
	}
	for i := range d.Sidecars {
		d.Sidecars[i].Report = edited(d.Sidecars[i].Report, func(o map[string]any) any {
			if variables, is := o["variables"].(map[string]any); is {
				r.environment(variables)
			}
			return o
		})
	}
}

// object hides the structural secrets of an object.
func (r *redaction) object(resource string, raw json.RawMessage) json.RawMessage {
	return edited(raw, func(o map[string]any) any {
		r.operators = resource == "deployments" // commands read the arguments of operators
		if resource == "secrets" {
			r.secret(o)
		}
		return r.structure(o)
	})
}

// structure hides values of pairs whose names are those of secrets, and arguments after options.
func (r *redaction) structure(v any) any {
	switch v := v.(type) {
	case map[string]any:
		r.unknownNames(v)
		name, named := v["name"].(string)
		r.noteNames(v)
		value, valued := v["value"].(string)
		if by, found := r.named(redact.InNames, name); named && valued && found {
			v["value"] = r.hide(by, value)
		}
		for key, child := range v {
			v[key] = r.field(key, child)
		}
	case []any:
		for i, child := range v {
			option, _ := child.(string)
			if by, found := r.named(redact.InOptions, option); found && i+1 < len(v) {
				if value, is := v[i+1].(string); is {
					v[i+1] = r.hide(by, value)
				}
			}
			v[i] = r.structure(v[i])
		}
	}
	return v
}

// unknownNames hides values of environment variables and annotations whose names the allow list does not have. Their
// values are hidden only there: most are ordinary words. Objects within annotations are redacted as objects.
func (r *redaction) unknownNames(o map[string]any) {
	variables, _ := o["env"].([]any)
	headers, _ := o["httpHeaders"].([]any)
	for _, v := range slices.Concat(variables, headers) {
		pair, _ := v.(map[string]any)
		name, _ := pair["name"].(string)
		if _, secret := r.named(redact.InNames, name); secret || redact.Environment(name) {
			continue
		}
		if text, is := pair["value"].(string); is && text != "" && text != redacted {
			pair["value"] = redacted
			r.counts[unknownVariables]++
		}
	}
	r.unknownArguments(o)
	annotations, _ := o["annotations"].(map[string]any)
	for key, v := range annotations {
		if text, is := v.(string); is && text != "" && text != redacted && !redact.Annotation(key) {
			annotations[key] = redacted
			r.counts[unknownAnnotations]++
		}
	}
}

// field hides secrets in a field. Annotations hold whole objects as JSON, which kubectl apply
// writes, and the environments of processes.
func (r *redaction) field(key string, v any) any {
	text, is := v.(string)
	if !is {
		return r.structure(v)
	}
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "{") {
		return v
	}
	var nested map[string]any
	if decode([]byte(trimmed), &nested) != nil {
		return v
	}
	found := len(r.literals) + r.total()
	if strings.HasSuffix(key, "environment") {
		r.environment(nested)
	}
	r.structure(nested)
	if found == len(r.literals)+r.total() {
		return v
	}
	if again, err := json.Marshal(nested); err == nil {
		return string(again)
	}
	return redacted
}

// environment hides the values of a map of environment variables.
func (r *redaction) environment(variables map[string]any) {
	for name, value := range variables {
		text, is := value.(string)
		by, found := r.named(redact.InNames, name)
		switch {
		case is && found:
			variables[name] = r.hide(by, text)
		case is && text != "" && text != redacted && !redact.Environment(name):
			variables[name] = redacted
			r.counts[unknownVariables]++
		}
	}
}

func (r *redaction) total() int {
	sum := 0
	for _, n := range r.counts {
		sum += n
	}
	return sum
}

// named returns the redactor that hides the value of a name.
func (r *redaction) named(in redact.Scope, name string) (id string, found bool) {
	for _, redactor := range r.all {
		if redactor.In == in && redactor.Matches(name) {
			return redactor.ID, true
		}
	}
	return "", false
}

// connectionString matches a connection string up to its coordinators. The user of a URL follows a
// slash.
var connectionString = regexp.MustCompile(`(^|[^/A-Za-z0-9_])([A-Za-z0-9_]+):([A-Za-z0-9]+)@`)

// identities finds the IDs of connection strings.
func (r *redaction) identities(d *Dump) {
	d.eachText(func(_, text string) string {
		for _, found := range connectionString.FindAllStringSubmatch(text, -1) {
			if id := found[3]; len(id) >= minLiteral && id != redacted {
				r.literals[id] = r.pseudonym(id)
			}
		}
		return text
	})
}

// pseudonym returns the ID that replaces another one, of the same length.
func (r *redaction) pseudonym(id string) string {
	var text strings.Builder
	for i := 0; text.Len() < len(id); i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", r.salt, i, id))
		text.WriteString(hex.EncodeToString(sum[:]))
	}
	return text.String()[:len(id)]
}

// texts hides what patterns match, and found secrets wherever they are.
func (r *redaction) texts(d *Dump) {
	var pairs []string
	names := r.names.String()
	longestFirst := func(a, b string) int { return len(b) - len(a) }
	for _, secret := range slices.SortedStableFunc(maps.Keys(r.literals), longestFirst) {
		if !strings.Contains(names, secret) {
			pairs = append(pairs, secret, r.literals[secret])
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
	d.eachText(r.text)
}

func (r *redaction) text(path, text string) string {
	for _, redactor := range r.all {
		traces := redactor.In == redact.InTraces && strings.HasPrefix(path, TracesDirectory)
		if redactor.In != redact.InText && redactor.In != redact.InDumps && !traces {
			continue
		}
		if hidden := redactor.Apply(text); hidden != text {
			r.counts[redactor.ID]++
			text = hidden
		}
	}
	if hidden := connectionString.ReplaceAllStringFunc(text, r.withPseudonym); hidden != text {
		r.counts[connectionStrings]++
		text = hidden
	}
	if hidden := r.replacer.Replace(text); hidden != text {
		r.counts[repeated]++
		text = hidden
	}
	return text
}

func (r *redaction) withPseudonym(match string) string {
	parts := connectionString.FindStringSubmatch(match)
	if parts[3] == redacted {
		return match
	}
	return parts[1] + parts[2] + ":" + r.pseudonym(parts[3]) + "@"
}

// Redactors that need more than a pattern of pkg/redact.
const (
	// connectionStrings replaces the ID in connection strings by another one, the same one
	// everywhere: commands compare connection strings.
	connectionStrings = "connection-string"
	// secretObjects hides the values of Secrets, other than certificates.
	secretObjects = "secret-object"
	// repeated hides secrets that another redactor found, wherever else they are.
	repeated = "repeated-secret"
	// unknownVariables and unknownAnnotations hide values whose names no allow list has, unknownArguments the commands and
	// arguments of containers that are neither the operator's nor this program's.
	unknownVariables, unknownAnnotations, unknownArguments = "unknown-variable", "unknown-annotation", "unknown-argument"
)

// redacted is what replaces a secret.
const redacted = redact.Mark

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
