package dumps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

func rawOf(objects ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, o := range objects {
		all = append(all, json.RawMessage(o))
	}
	return all
}

func compact(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// planted is a secret of each kind, in a place where a cluster can have it.
var planted = map[string]struct {
	secret string
	plant  func(d *Dump, secret string)
}{
	"an environment variable of a pod": {"hunter2hunter", inPod(`{"spec":{"containers":[{"env":[{"name":"AWS_SECRET_ACCESS_KEY","value":"%s"}]}]}}`)},
	"the same in the annotation of kubectl apply": {"hunter2annotated", func(d *Dump, secret string) {
		applied, _ := json.Marshal(fmt.Sprintf(`{"spec":{"containers":[{"env":[{"name":"DB_PASSWORD","value":"%s"}]}]}}`, secret))
		inPod(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":%s}}}`)(d, string(applied))
	}},
	"the environment in an annotation": {"hunter2launched", func(d *Dump, secret string) {
		environment, _ := json.Marshal(fmt.Sprintf(`{"API_TOKEN":"%s"}`, secret))
		inPod(`{"metadata":{"annotations":{"foundationdb.org/launcher-environment":%s}}}`)(d, string(environment))
	}},
	"a variable of any name":          {"hunter2named", inPod(`{"spec":{"containers":[{"env":[{"name":"DB_PASS","value":"%s"}]}]}}`)},
	"an annotation of any name":       {"hunter2noted", inPod(`{"metadata":{"annotations":{"example.com/x":"%s"}}}`)},
	"JSON in an annotation":           {"hunter2nested", inPod(`{"metadata":{"annotations":{"example.com/x":"{\"db\":{\"pw\":\"%s\"}}"}}}`)},
	"an argument of a sidecar":        {"hunter2aside", inPod(`{"spec":{"containers":[{"name":"proxy","args":["%s"]}]}}`)},
	"the command of a probe":          {"hunter2probed", inPod(`{"spec":{"containers":[{"name":"foundationdb","livenessProbe":{"exec":{"command":["check","%s"]}}}]}}`)},
	"an option for an API key":        {"hunter2keyed", inPod(`{"spec":{"containers":[{"args":["--apikey","%s"]}]}}`)},
	"a password for MongoDB":          {"hunter2mongo", inLog("mongodb+srv://u:%s@host/db")},
	"a password for a proxy":          {"hunter2socks", inLog("socks5://u:%s@host:1080")},
	"an account key of Azure":         {"hunter2azure", inLog("AccountName=a;AccountKey=%s==;Endpoint=x")},
	"a hook of Slack":                 {"hunter2hook", inLog("post https://hooks.slack.com/services/T0/%s now")},
	"a token of GitHub":               {"ghp_0123456789abcdefABCDEF", inLog("clone with %s")},
	"a token of Vault":                {"hvs.0123456789abcdefABCDEF", inLog("vault %s")},
	"an argument after an option":     {"hunter2argued", inPod(`{"spec":{"containers":[{"name":"foundationdb","args":["--tls-password","%s"]}]}}`)},
	"an option with its value":        {"hunter2opted", inPod(`{"spec":{"containers":[{"name":"foundationdb","command":["sh","-c","run --password %s --now"]}]}}`)},
	"an option whose value is a word": {"hunterargued", inLog("started with --password %s")},
	"the URL of a blob store":         {"hunter2stored", inPod(`{"spec":{"blobStoreConfiguration":{"url":"blobstore://key:%s@store:443/b?bucket=c"}}}`)},
	"a header in the URL of a store":  {"hunter2headed", inPod(`{"spec":{"url":"blobstore://key@store:443/b?bucket=c&header=X-Auth:%s"}}`)},
	"the password in another URL":     {"hunter2proxied", inPod(`{"spec":{"proxy":"https://ann:%s@proxy:3128"}}`)},
	"a signature in a URL":            {"hunter2signed", inLog("GET https://s3/x?X-Amz-Signature=%s&a=b")},
	"a bearer token in a log":         {"hunter2carried", inLog("request with Authorization: Bearer %s")},
	"a bearer token elsewhere":        {"hunter2curled", inLog("curl -H X: Bearer %s")},
	"a web token in a log":            {"eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", inLog("using %s now")},
	"an access key in a log":          {"AKIAABCDEFGHIJKLMNOP", inLog("key %s")},
	"a password in a log":             {"hunter2logged", inLog("login with password: %s")},
	"a private key in a log":          {"MIIhunter2private", inLog("-----BEGIN EC PRIVATE KEY-----\n%s\n-----END EC PRIVATE KEY-----")},
	"a key in a trace file":           {"hunter2key", inTrace(`<Event Type="MoveKeys" KeyBegin="%s" Machine="10.1.0.1:4501" />`)},
	"a value in a trace file as JSON": {"hunter2value", inTrace(`{"Type": "Set", "Value": "%s", "Machine": "10.1.0.1:4501"}`)},
	"the ID of a connection string":   {"hunter2hunter2id", inPod(`{"status":{"connectionString":"sample:%s@10.1.0.1:4501"}}`)},
	"a connection string that is run": {"hunter2run", func(d *Dump, secret string) {
		d.Runs = append(d.Runs, Run{Stdout: "`\\xff/coordinators' is `sample:" + secret + "@10.1.0.1:4501'\n"})
	}},
	"the ID alone, elsewhere": {"hunter2alone", func(d *Dump, secret string) {
		inPod(`{"a":"sample:%s@10.1.0.1:4501"}`)(d, secret)
		inLog("cluster key %s")(d, secret)
	}},
	"a Secret, encoded": {"aHVudGVyMnNlY3JldA==", inSecret},
	"a Secret whose value is in a log": {"hunter2repeated", func(d *Dump, secret string) {
		inSecret(d, base64.StdEncoding.EncodeToString([]byte(secret)))
		inLog("started with %s")(d, secret)
	}},
	"an error that repeats a URL": {"hunter2failed", func(d *Dump, secret string) {
		d.Manifest.Unread = []Unread{{"x", "get blobstore://key:" + secret + "@store"}}
	}},
	"a failed run that repeats a URL": {"hunter2broken", func(d *Dump, secret string) {
		d.Runs = append(d.Runs, Run{Failure: &RunFailure{Message: "blobstore://key:" + secret + "@store"}})
	}},
	"the command line of a backup tool": {"hunter2backed", func(d *Dump, secret string) {
		d.Runs = append(d.Runs, Run{Argv: []string{"fdbbackup", "describe", "-d", "blobstore://key:" + secret + "@store"}})
	}},
}

func inPod(layout string) func(*Dump, string) {
	return func(d *Dump, secret string) {
		d.Lists = append(d.Lists, List{Resource: "pods", Items: rawOf(fmt.Sprintf(layout, secret))})
	}
}

func inLog(layout string) func(*Dump, string) {
	return func(d *Dump, secret string) { d.Files["logs/fdb/a/c.log"] = fmt.Appendf(nil, layout, secret) }
}

func inTrace(layout string) func(*Dump, string) {
	return func(d *Dump, secret string) {
		d.Files[TracesDirectory+"fdb/a/trace.xml"] = fmt.Appendf(nil, layout, secret)
	}
}

func inSecret(d *Dump, encoded string) {
	d.Singles = append(d.Singles, Single{Resource: "secrets", Name: "s", Object: rawOf(fmt.Sprintf(`{"metadata":{"annotations":{"a":"%s"}},"data":{"tls.key":"%s"}}`, encoded, encoded))[0]})
}

func TestRedactionRemovesEverySecretFromADump(t *testing.T) {
	for name, tc := range planted {
		t.Run(name, func(t *testing.T) {
			d := New()
			d.Manifest.At = noon()
			tc.plant(d, tc.secret)
			if !bytes.Contains(unpackedOf(t, packed(t, d)), []byte(tc.secret)) {
				t.Fatal("the secret is not in the dump before redaction: the test shows nothing")
			}
			if err := Redact(d, "salt"); err != nil {
				t.Fatal(err)
			}
			content := unpackedOf(t, packed(t, d))
			if i := bytes.Index(content, []byte(tc.secret)); i >= 0 {
				t.Errorf("the secret is in the dump: %s", content[max(0, i-80):min(len(content), i+80)])
			}
			if len(d.Manifest.Redacted) == 0 {
				t.Error("the manifest counts nothing")
			}
		})
	}
}

func TestRedactionKeepsNonSecretValues(t *testing.T) {
	for _, text := range []string{
		`{"env":[{"name":"FDB_TLS_KEY_FILE","value":"/certs/tls.key"}]}`,
		`{"url":"https://proxy:3128/a?bucket=b"}`,
		`{"url":"blobstore://key@store:443/b?bucket=c"}`,
		`{"a":"10.1.0.1:4501:tls"}`,
		`{"secretName":"certificates"}`,
		`{"message":"secret \"certificates\" not found"}`,
	} {
		d := New()
		d.Lists = []List{{Resource: "pods", Items: rawOf(text)}}
		if err := Redact(d, "salt"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text, string(d.Lists[0].Items[0])); diff != "" {
			t.Error(diff)
		}
	}
}

func TestRedactKeepsNamesThatContainASecretValue(t *testing.T) {
	d := New()
	d.Lists = []List{{Resource: "pods", Items: rawOf(`{"metadata":{"name":"foundationdb-1","namespace":"fdb"},"spec":{"containers":[{"env":[{"name":"DB_PASSWORD","value":"foundationdb"}],"image":"foundationdb:7.3.79","name":"foundationdb"}]}}`)}}
	if err := Redact(d, "salt"); err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"name":"foundationdb-1","namespace":"fdb"},"spec":{"containers":[{"env":[{"name":"DB_PASSWORD","value":"REDACTED"}],"image":"foundationdb:7.3.79","name":"foundationdb"}]}}`
	if diff := cmp.Diff(want, string(d.Lists[0].Items[0])); diff != "" {
		t.Error(diff)
	}
}

func TestRedactedConnectionStringsRemainComparable(t *testing.T) {
	d := New()
	d.Lists = []List{{Resource: "pods", Items: rawOf(`{"a":"x:abcdefgh@10.1.0.1:4501"}`, `{"a":"x:abcdefgh@10.1.0.1:4501"}`, `{"a":"x:ijklmnop@10.1.0.1:4501"}`)}}
	if err := Redact(d, "salt"); err != nil {
		t.Fatal(err)
	}
	one, same, other := string(d.Lists[0].Items[0]), string(d.Lists[0].Items[1]), string(d.Lists[0].Items[2])
	if one != same || one == other || strings.Contains(one, "abcdefgh") || len(one) != len(`{"a":"x:abcdefgh@10.1.0.1:4501"}`) {
		t.Errorf("%s %s %s", one, same, other)
	}
}

func TestEveryRedactorHidesAPlantedSecret(t *testing.T) {
	counted := map[string]int{}
	for _, tc := range planted {
		d := New()
		tc.plant(d, tc.secret)
		if err := Redact(d, "salt"); err != nil {
			t.Fatal(err)
		}
		for id, n := range d.Manifest.Redacted {
			counted[id] += n
		}
	}
	for _, r := range redact.Redactors() {
		if counted[r.ID] == 0 || r.Hides == "" {
			t.Errorf("redactor %q hides none of the planted secrets, or has no description", r.ID)
		}
	}
	for _, id := range []string{connectionStrings, secretObjects, repeated, unknownVariables, unknownAnnotations, unknownArguments} {
		if counted[id] == 0 {
			t.Errorf("redactor %q hides none of the planted secrets", id)
		}
	}
}
