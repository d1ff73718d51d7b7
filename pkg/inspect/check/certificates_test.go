package check

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
)

func TestCheckPrintsTheCertificateRefreshDelay(t *testing.T) {
	tests := map[string]struct {
		parameters map[v1beta2.ProcessClass]string
		left       time.Duration
		want       string
		late       bool
	}{
		"the default":                      {nil, 20 * 24 * time.Hour, "up to 12h0m0s later (the default of tls_cert_refresh_delay_seconds)", false},
		"longer than it is valid":          {nil, 11 * time.Hour, "up to 12h0m0s later", true},
		"an hour for all":                  {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert_refresh_delay_seconds=3600"}, 2 * time.Hour, "up to 1h0m0s later (knob_tls_cert_refresh_delay_seconds)", false},
		"longer for one class":             {map[v1beta2.ProcessClass]string{"log": "knob_tls_cert_refresh_delay_seconds=86400"}, 20 * time.Hour, "up to 24h0m0s later (knob_tls", true},
		"shorter for one class":            {map[v1beta2.ProcessClass]string{"log": "knob_tls_cert_refresh_delay_seconds=60"}, 20 * time.Hour, "up to 12h0m0s later (the default", false},
		"no number":                        {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert_refresh_delay_seconds=soon"}, 20 * time.Hour, "unknown: knob_tls_cert_refresh_delay_seconds is no number", false},
		"a parameter about something else": {map[v1beta2.ProcessClass]string{"general": "knob_tls_cert=5"}, 20 * time.Hour, "up to 12h0m0s later (the default", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Status.ProcessGroups = []*v1beta2.ProcessGroupStatus{{ProcessClass: "log"}, {ProcessClass: "storage"}}
			c.Spec.Processes = map[v1beta2.ProcessClass]v1beta2.ProcessSettings{}
			for class, parameter := range tc.parameters {
				c.Spec.Processes[class] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{v1beta2.FoundationDBCustomParameter(parameter)}}
			}
			got := certRefreshText(c, tc.left)
			if !strings.Contains(got, tc.want) || strings.Contains(got, "longer than it is valid") != tc.late {
				t.Errorf("%s", got)
			}
		})
	}
}

// After the delay, and for processes that were started since, the certificate is the renewed one.
func TestReloadedCertificatesAreNoFinding(t *testing.T) {
	for name, given := range map[string]func(*Facts){
		"without TLS":                       func(*Facts) {},
		"renewed longer ago than the delay": renewed(certRefreshDefault),
		"restarted since": func(f *Facts) {
			renewed(25 * time.Hour)(f)
			f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = v1beta2.ProcessSettings{CustomParameters: v1beta2.FoundationDBCustomParameters{knobCertRefresh + "=172800"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			given(&f)
			if item := itemOf(t, reportOn(f, Options{}), "CERT-004"); item.Outcome != Passed {
				t.Errorf("got %+v", item)
			}
		})
	}
}

// What should be left of a certificate depends on its validity, and on when processes read the next one.
func TestShortLivedCertificatesAreJudgedByTheirValidity(t *testing.T) {
	const day = 24 * time.Hour
	hour := []v1beta2.FoundationDBCustomParameter{knobCertRefresh + "=3600"}
	for name, tc := range map[string]struct {
		validity, left time.Duration
		parameters     []v1beta2.FoundationDBCustomParameter
		want, message  string
	}{
		"24 h, fresh":                       {day, day, nil, "", ""},
		"24 h, half left":                   {day, 13 * time.Hour, nil, "", ""},
		"24 h, read too late":               {day, 11 * time.Hour, nil, "CERT-002", "expires at 2026-11-20T23:00:00Z: 11h left, 12h required of a validity of 24h; running processes read a renewed Secret up to 12h0m0s later"},
		"24 h, half left, a short delay":    {day, 11 * time.Hour, hour, "", ""},
		"24 h, a third left":                {day, 7 * time.Hour, hour, "CERT-003", "7h left, 8h required of a validity of 24h"},
		"24 h, a sixth left":                {day, 3 * time.Hour, hour, "CERT-002", "3h left, 4h required of a validity of 24h"},
		"24 h, a delay that is no number":   {day, 11 * time.Hour, []v1beta2.FoundationDBCustomParameter{knobCertRefresh + "=soon"}, "CERT-002", "no number of seconds"},
		"6 h, the default delay":            {6 * time.Hour, 6 * time.Hour, nil, "CERT-002", "longer than it is valid"},
		"47 d, fresh":                       {47 * day, 47 * day, nil, "", ""},
		"47 d, renewed in time":             {47 * day, 16 * day, nil, "", ""},
		"47 d, due":                         {47 * day, 15 * day, nil, "CERT-003", "15d left, 15d required of a validity of 47d"},
		"47 d, a week left":                 {47 * day, 7*day - time.Hour, nil, "CERT-002", "7d required of a validity of 47d"},
		"90 d, fresh":                       {90 * day, 90 * day, nil, "", ""},
		"90 d, due":                         {90 * day, 29 * day, nil, "CERT-003", "29d left, 30d required of a validity of 90d"},
		"90 d, less than a week left":       {90 * day, 6 * day, nil, "CERT-002", "6d left, 7d required of a validity of 90d"},
		"1 y, fresh":                        {365 * day, 365 * day, nil, "", ""},
		"1 y, two months left":              {365 * day, 60 * day, nil, "", ""},
		"1 y, due":                          {365 * day, 29 * day, nil, "CERT-003", "30d required of a validity of 365d"},
		"1 y, less than a week left":        {365 * day, 6 * day, nil, "CERT-002", "7d required of a validity of 365d"},
		"1 y, expired":                      {365 * day, -time.Hour, nil, "CERT-001", "expires at 2026-11-20T11:00:00Z; running"},
		"an unknown validity is a long one": {0, 6 * day, nil, "CERT-002", "6d left, 7d required; running"},
	} {
		t.Run(name, func(t *testing.T) {
			f := healthy(t)
			expiring(tc.left)(&f)
			if tc.validity > 0 {
				s := f.Secrets["tls"]
				s.ValidFrom = map[string]time.Time{"tls.crt": noon.Add(tc.left - tc.validity)}
				f.Secrets["tls"] = s
			}
			f.Cluster.Spec.Processes[v1beta2.ProcessClassGeneral] = v1beta2.ProcessSettings{CustomParameters: tc.parameters}
			r := reportOn(f, Options{})
			for _, code := range []string{"CERT-001", "CERT-002", "CERT-003"} {
				item := itemOf(t, r, code)
				if failed := item.Outcome == Failed; failed != (code == tc.want) {
					t.Errorf("%s: %+v, want a finding only of %q", code, item, tc.want)
				} else if failed && !strings.Contains(item.Findings[0].Message, tc.message) {
					t.Errorf("got %q, want %q", item.Findings[0].Message, tc.message)
				}
			}
		})
	}
}

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
