package check

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

const (
	// knobCertRefresh is the custom parameter for how often processes read their certificates.
	knobCertRefresh = "knob_tls_cert_refresh_delay_seconds"
	// certRefreshDefault is its default in FoundationDB 7.1 and newer.
	certRefreshDefault = 12 * time.Hour
)

// certRefresh returns how long running processes may use the old certificate after the Secret
// was renewed: the longest delay of all classes, and whether the spec sets it. Known is false
// for a value that is no number of seconds.
func certRefresh(c *v1beta2.FoundationDBCluster) (longest time.Duration, set, known bool) {
	for _, g := range c.Status.ProcessGroups {
		delay, named := certRefreshDefault, false
		for _, parameter := range c.Settings(g.ProcessClass).CustomParameters {
			name, value, _ := strings.Cut(string(parameter), "=")
			if strings.TrimSpace(name) != knobCertRefresh {
				continue
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || seconds < 0 || seconds > float64(1<<31) {
				return 0, true, false
			}
			delay, named = time.Duration(seconds*float64(time.Second)), true
		}
		if delay >= longest {
			longest, set = delay, named
		}
	}
	if longest == 0 && !set {
		longest = certRefreshDefault
	}
	return longest, set, true
}

// certRefreshText describes when a renewed certificate is in use, and whether that is in time
// for one that expires after left.
func certRefreshText(c *v1beta2.FoundationDBCluster, left time.Duration) string {
	delay, set, known := certRefresh(c)
	if !known {
		return "; when running processes read a renewed Secret is unknown: " + knobCertRefresh + " is no number of seconds"
	}
	source := "the default of tls_cert_refresh_delay_seconds"
	if set {
		source = knobCertRefresh
	}
	words := fmt.Sprintf("; running processes read a renewed Secret up to %s later (%s)", delay, source)
	if left < delay {
		words += ", which is longer than it is valid: restart the processes once the Secret is renewed"
	}
	return words
}
