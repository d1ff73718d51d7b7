package check

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

const (
	sumOld = "0123456789abcdef0123456789abcdef"
	sumNew = "fedcba9876543210fedcba9876543210"
)

// serving is a cluster whose processes listen with TLS and serve a certificate, while the Secret has the new one.
func serving(sum string) func(*Facts) {
	return func(f *Facts) {
		f.Secrets = map[string]Secret{"tls": {Fingerprints: []string{sumNew}, Issued: noon.Add(-time.Hour), Expires: map[string]time.Time{"tls.crt": noon.Add(90 * 24 * time.Hour)}}}
		for key, p := range f.Database.Status.Cluster.Processes {
			p.Address.TLS = true
			p.UptimeSeconds = new(float64(24 * 60 * 60))
			f.Database.Status.Cluster.Processes[key] = p
		}
		for _, a := range f.TLSAddresses() {
			f.Served = append(f.Served, fdb.ServedCertificate{Address: a, Fingerprint: sum, NotBefore: noon.Add(-24 * time.Hour), NotAfter: noon.Add(60 * 24 * time.Hour)})
		}
	}
}

// until sets when the served certificates expire.
func until(left time.Duration) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Served {
			f.Served[i].NotAfter = noon.Add(left)
		}
	}
}

func TestServedCertificatesAreComparedWithTheSecrets(t *testing.T) {
	hours := func(f *Facts) {
		f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{knobCertRefresh + "=3600"}}
	}
	for name, tc := range map[string]struct {
		given    func(*Facts)
		outcome  Outcome
		severity Severity
		says     string
		subjects int
	}{
		"without TLS":                        {func(*Facts) {}, Passed, "", "", 0},
		"the certificate of the Secret":      {serving(sumNew), Passed, "", "", 0},
		"that of before":                     {serving(sumOld), Failed, Warning, "no mounted Secret: SHA-256 0123456789abcdef", 12},
		"that of before, which has expired":  {both(serving(sumOld), until(-time.Hour)), Failed, Error, "restart the processes", 12},
		"that of before, which soon expires": {both(serving(sumOld), until(11*time.Hour)), Failed, Error, "restart the processes", 12},
		"the same, and a short delay":        {both(serving(sumOld), both(until(11*time.Hour), hours)), Failed, Warning, "up to 1h0m0s later", 12},
		"one process that failed to read it": {both(serving(sumNew), func(f *Facts) { f.Served[3].Fingerprint = sumOld }), Failed, Warning, "no mounted Secret", 1},
		"a process that does not respond": {both(serving(sumNew), func(f *Facts) {
			f.Served[3] = fdb.ServedCertificate{Address: f.Served[3].Address, Unread: "no response to a TLS handshake"}
		}), NotChecked, "", "process/127.0.2.14:4501: no response", 0},
		"a process that was not read":  {both(serving(sumNew), func(f *Facts) { f.Served = f.Served[1:] }), NotChecked, "", "was not read", 0},
		"a pod without bash":           {both(serving(sumNew), func(f *Facts) { f.Served, f.ServedUnread = nil, "the script requires bash" }), NotChecked, "", "requires bash", 0},
		"a Secret that is forbidden":   {both(serving(sumOld), func(f *Facts) { f.Secrets["ca"] = Secret{Unread: "forbidden"} }), NotChecked, "", "Secret ca: forbidden", 0},
		"certificates of another kind": {both(serving(sumOld), func(f *Facts) { f.Secrets = map[string]Secret{} }), NotChecked, "", "another source", 0},
		"no answer from the database":  {both(serving(sumOld), func(f *Facts) { f.Database = plan.DatabaseFacts{Unreachable: "timed out"} }), NotChecked, "", "the database lists none", 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			tc.given(&f)
			item := itemOf(t, reportOn(f, Options{}), "CERT-005")
			text, subjects := item.Reason, 0
			for _, finding := range item.Findings {
				text += finding.Message
				subjects += len(finding.Subjects)
			}
			if item.Outcome != tc.outcome || !strings.Contains(text, tc.says) || subjects != tc.subjects {
				t.Errorf("%s, %d subjects: %s", item.Outcome, subjects, text)
			}
			if tc.severity != "" && item.Severity != tc.severity {
				t.Errorf("severity %s, want %s", item.Severity, tc.severity)
			}
		})
	}
}

// What is read replaces the conclusion from uptimes: the processes are old enough for CERT-004 in both cases.
func TestKnownServedCertificatesOverrideTheUptimeEstimate(t *testing.T) {
	for name, sum := range map[string]string{"the renewed one": sumNew, "the one of before": sumOld} {
		f := healthy(t)
		serving(sum)(&f)
		if item := itemOf(t, reportOn(f, Options{}), "CERT-004"); item.Outcome != Passed {
			t.Errorf("%s: %+v", name, item)
		}
		f.Served = nil
		if item := itemOf(t, reportOn(f, Options{}), "CERT-004"); item.Outcome != Failed {
			t.Errorf("%s, unread: %+v", name, item)
		}
	}
}

// While a cluster is converted, a process has a listener with TLS that is not its first address.
func TestTheTLSListenerOfAProcessIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		given fdb.Process
		want  string
	}{
		"TLS only":       {fdb.Process{Address: fdb.Address{Host: "10.0.0.1", Port: 4500, TLS: true}}, "10.0.0.1:4500:tls"},
		"both listeners": {fdb.Process{Address: fdb.Address{Host: "10.0.0.1", Port: 4501}, CommandLine: "fdbserver --public_address=10.0.0.1:4501,10.0.0.1:4500:tls"}, "10.0.0.1:4500:tls"},
		"plaintext":      {fdb.Process{Address: fdb.Address{Host: "10.0.0.1", Port: 4501}, CommandLine: "fdbserver --public_address=10.0.0.1:4501"}, ""},
	} {
		got, found := tlsAddress(tc.given)
		if found != (tc.want != "") || found && got.String() != tc.want {
			t.Errorf("%s: %s, %v", name, got, found)
		}
	}
}
