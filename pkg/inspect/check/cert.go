package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// certificates returns the rules about TLS. Processes read their certificates again when the
// files change, and exit if they cannot.
func certificates() []Rule {
	return []Rule{
		certRule("CERT-001", Critical, lifeExpired, "No certificate has expired",
			"Processes and clients reject each other: the database stops once connections are reestablished."),
		certRule("CERT-002", Error, lifeUrgent, "No certificate is about to expire",
			"Less is left than a week, or a sixth of the validity if that is shorter, or less than running processes take to read a renewed Secret (tls_cert_refresh_delay_seconds, 12 h by default). Certificates should be renewed earlier than that."),
		certRule("CERT-003", Warning, lifeDue, "No certificate is due for renewal",
			"Less is left than 30 days, or a third of the validity if that is shorter. Renew it before it is urgent. Running processes read a renewed Secret only after tls_cert_refresh_delay_seconds, 12 h by default; a restart makes them read it at once."),
		{
			Code: "CERT-004", Severity: Info, Title: "Running processes use the certificate of the Secret",
			Why:  "A process that was started before the certificate was renewed uses the old one until it reads the Secret again: after tls_cert_refresh_delay_seconds, 12 h by default, at the latest. Where CERT-005 cannot read what a process serves, this follows from its uptime. A restart makes it read the Secret at once.",
			Find: outdatedCertificates,
		},
		{
			Code: "CERT-005", Severity: Warning, Title: "Processes serve a certificate of the mounted Secrets", Severe: servesTooLong,
			Why:  "Each process presents its certificate to a connection from a pod of the cluster. One that no mounted Secret has is from before a renewal, or the process failed to read the new one. It is an error if it expires before the process is certain to read the Secret again.",
			Find: servedCertificates,
		},
	}
}

// life is how much of the validity of a certificate is left.
type life int

const (
	lifeEnough life = iota
	lifeDue
	lifeUrgent
	lifeExpired
)

// The longest times before the end at which a certificate is due or urgent. Short-lived certificates
// have a third and a sixth of their validity instead: issuers renew them after two thirds of it, and
// one that is valid for a day has never a week left.
const (
	week  = 7 * 24 * time.Hour
	month = 30 * 24 * time.Hour
)

// lifeOf returns how much of a certificate is left, and how much should be left. An unknown validity is
// a long one.
func lifeOf(f Facts, s Secret, key string) (l life, required time.Duration) {
	end := s.Expires[key]
	due, urgent := month, week
	if begin, known := s.ValidFrom[key]; known && begin.Before(end) {
		due, urgent = min(month, end.Sub(begin)/3), min(week, end.Sub(begin)/6)
	}
	delay, _, known := certRefresh(f.Cluster)
	if !known {
		delay = certRefreshDefault // the message has why it is unknown
	}
	urgent = max(urgent, delay)
	switch left := end.Sub(f.Now); {
	case left < 0:
		return lifeExpired, 0
	case left < urgent:
		return lifeUrgent, urgent
	case left < due:
		return lifeDue, due
	default:
		return lifeEnough, due
	}
}

// lifeText returns when a certificate expires, and for one that is still valid what is left and required.
func lifeText(f Facts, s Secret, key string, required time.Duration) string {
	end := s.Expires[key]
	text := fmt.Sprintf("the certificate in %s expires at %s", key, end.UTC().Format(time.RFC3339))
	if required == 0 {
		return text
	}
	text += fmt.Sprintf(": %s left, %s required", phrase.Duration(end.Sub(f.Now)), phrase.Duration(required))
	if begin, known := s.ValidFrom[key]; known {
		text += fmt.Sprintf(" of a validity of %s", phrase.Duration(end.Sub(begin)))
	}
	return text
}

// certRule returns a rule about certificates of which only so much is left.
func certRule(code string, severity Severity, of life, title, why string) Rule {
	return Rule{Code: code, Severity: severity, Title: title, Why: why, Find: func(f Facts) ([]Finding, string) {
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
				if l, required := lifeOf(f, secret, key); l == of {
					found = append(found, one("secret/"+name, lifeText(f, secret, key, required)+certRefreshText(f.Cluster, secret.Expires[key].Sub(f.Now)), "describe", "secret", name)...)
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
