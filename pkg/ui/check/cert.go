package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// certificates returns the rules about TLS. Processes read their certificates again when the
// files change, and exit if they cannot.
func certificates() []Rule {
	return []Rule{
		certRule("CERT-001", Critical, -1<<62, 0, "No certificate has expired",
			"Processes and clients reject each other: the database stops once connections are reestablished."),
		certRule("CERT-002", Error, 0, week, "No certificate expires within a week",
			"Certificates should be renewed earlier than that."),
		certRule("CERT-003", Warning, week, month, "No certificate expires within 30 days",
			"Renew it before it is urgent. Running processes read a renewed Secret only after tls_cert_refresh_delay_seconds, 12 h by default; a restart makes them read it at once."),
		{
			Code: "CERT-004", Severity: Info, Title: "Running processes use the certificate of the Secret",
			Why:  "A process that was started before the certificate was renewed uses the old one until it reads the Secret again: after tls_cert_refresh_delay_seconds, 12 h by default, at the latest. Where CERT-005 cannot read what a process serves, this follows from its uptime. A restart makes it read the Secret at once.",
			find: outdatedCertificates,
		},
		{
			Code: "CERT-005", Severity: Warning, Title: "Processes serve a certificate of the mounted Secrets", severe: servesTooLong,
			Why:  "Each process presents its certificate to a connection from a pod of the cluster. One that no mounted Secret has is from before a renewal, or the process failed to read the new one. It is an error if it expires before the process is certain to read the Secret again.",
			find: servedCertificates,
		},
	}
}

const (
	week  = 7 * 24 * time.Hour
	month = 30 * 24 * time.Hour
)

// certRule returns a rule about certificates that expire at least from and less than before from now.
func certRule(code string, severity Severity, from, before time.Duration, title, why string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, find: func(f Facts) ([]Finding, string) {
		if f.Secrets == nil {
			return nil, "" // without TLS there is nothing to expire
		}
		var found []Finding
		var unread []string
		certificates := 0
		for _, name := range slices.Sorted(maps.Keys(f.Secrets)) {
			secret := f.Secrets[name]
			if secret.Unread != "" {
				unread = append(unread, fmt.Sprintf("Secret %s: %s", name, secret.Unread))
			}
			for _, key := range slices.Sorted(maps.Keys(secret.Expires)) {
				certificates++
				if left := secret.Expires[key].Sub(f.Now); left >= from && left < before {
					found = append(found, Finding{
						Subjects: []string{"secret/" + name}, Message: fmt.Sprintf("the certificate in %s expires at %s", key, secret.Expires[key].UTC().Format(time.RFC3339)) + certRefreshText(f.Cluster, left),
						Fix: []string{"describe", "secret", name},
					})
				}
			}
		}
		switch {
		case len(unread) > 0:
			return found, strings.Join(unread, "; ")
		case certificates == 0:
			return found, "no Secret with certificates is mounted into the pods: they have another source"
		default:
			return found, ""
		}
	}}
}
