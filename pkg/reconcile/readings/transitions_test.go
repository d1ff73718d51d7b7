package readings

import (
	"testing"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

func TestUpgradesAreClassifiedAsCompatibleOrIncompatible(t *testing.T) {
	tests := map[string]struct {
		running, desired         string
		compatible, incompatible bool
	}{
		"no upgrade":                         {"7.3.79", "7.3.79", false, false},
		"nothing is recorded to be running":  {"", "7.3.79", false, false},
		"another patch":                      {"7.3.63", "7.3.79", true, false},
		"an older patch":                     {"7.3.79", "7.3.63", true, false},
		"another minor version":              {"7.1.67", "7.3.79", false, true},
		"another major version":              {"6.3.24", "7.3.79", false, true},
		"an invalid running version":         {"seven", "7.3.79", false, true},
		"a release candidate of the version": {"7.3.79-rc1", "7.3.79", false, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Status.RunningVersion, c.Spec.Version = tc.running, tc.desired
			if got := CompatibleUpgrade(c); got != tc.compatible {
				t.Errorf("compatible: %t, want %t", got, tc.compatible)
			}
			if got := IncompatibleUpgrade(c); got != tc.incompatible {
				t.Errorf("incompatible: %t, want %t", got, tc.incompatible)
			}
		})
	}
}

func TestTLSConversionIsActiveWhileBothAddressKindsAreRequired(t *testing.T) {
	tests := map[string]struct {
		required   v1beta2.RequiredAddressSet
		converting bool
	}{
		"with TLS only":                   {v1beta2.RequiredAddressSet{TLS: true}, false},
		"without TLS only":                {v1beta2.RequiredAddressSet{NonTLS: true}, false},
		"with both":                       {v1beta2.RequiredAddressSet{TLS: true, NonTLS: true}, true},
		"with a status that has none yet": {v1beta2.RequiredAddressSet{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1beta2.FoundationDBCluster{}
			c.Status.RequiredAddresses = tc.required
			if got := TLSConversion(c); got != tc.converting {
				t.Errorf("converting: %t, want %t", got, tc.converting)
			}
		})
	}
}
