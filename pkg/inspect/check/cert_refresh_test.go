package check

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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
