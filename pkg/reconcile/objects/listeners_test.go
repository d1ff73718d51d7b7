package objects

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
)

func TestEachProcessOfAPodHasATLSAndAPlainPort(t *testing.T) {
	tests := map[string]struct {
		listener listener
		server   int
		port     int
	}{
		"TLS of the first server":   {tlsListener, 1, 4500},
		"plain of the first server": {plainListener, 1, 4501},
		"TLS of the second":         {tlsListener, 2, 4502},
		"plain of the second":       {plainListener, 2, 4503},
		"TLS of the fourth":         {tlsListener, 4, 4506},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.listener.portOf(tt.server); got != tt.port {
				t.Errorf("port %d, want %d", got, tt.port)
			}
		})
	}
}

func TestListenersFollowTheStatusDuringATLSConversion(t *testing.T) {
	required := func(tls, plain, wantTLS bool) given {
		return func(c *v1beta2.FoundationDBCluster) {
			c.Spec.MainContainer.EnableTLS = wantTLS
			c.Status.RequiredAddresses = v1beta2.RequiredAddressSet{TLS: tls, NonTLS: plain}
		}
	}
	const ip = "10.1.0.9"
	tests := map[string]struct {
		given   given
		unified string
		split   string
	}{
		"plain": {
			required(false, true, false),
			"--public_address=[10.1.0.9]:4503", "--public_address=10.1.0.9:4503",
		},
		"plain, TLS wanted but not yet required": {
			required(false, true, true),
			"--public_address=[10.1.0.9]:4503", "--public_address=10.1.0.9:4503",
		},
		"both, TLS first": {
			required(true, true, true),
			"--public_address=[10.1.0.9]:4502:tls,[10.1.0.9]:4503", "--public_address=10.1.0.9:4502:tls,10.1.0.9:4503",
		},
		"TLS": {
			required(true, false, true),
			"--public_address=[10.1.0.9]:4502:tls", "--public_address=10.1.0.9:4502:tls",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sample(t, tt.given)
			for image, want := range map[v1beta2.ImageType]string{v1beta2.ImageTypeUnified: tt.unified, v1beta2.ImageTypeSplit: tt.split} {
				a := addressArgument(c, Launch{Class: v1beta2.ProcessClassStorage, ImageType: image, Servers: 2}, "--public_address=", v1beta2.EnvPublicIP)
				got, err := a.Generate(2, map[string]string{v1beta2.EnvPublicIP: ip})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s image (-want +got):\n%s", image, diff)
				}
			}
		})
	}
}

func TestListenersFollowTheSpecIfRequiredAddressesAreUnset(t *testing.T) {
	c := sample(t, withTLS)
	c.Status.RequiredAddresses = v1beta2.RequiredAddressSet{}
	if diff := cmp.Diff(4500, listeners(c)[0].port); diff != "" {
		t.Error(diff)
	}
}

func TestIPFamilyPicksAnAddressOfAUnifiedPodOnly(t *testing.T) {
	c := sample(t, ipFamily(6))
	env := map[string]string{v1beta2.EnvPublicIP: "10.1.0.9,fd00::9"}
	for image, want := range map[v1beta2.ImageType]string{
		v1beta2.ImageTypeUnified: "--public_address=[fd00::9]:4501",
		v1beta2.ImageTypeSplit:   "--public_address=10.1.0.9,fd00::9:4501", // the sidecar reports one address only
	} {
		a := addressArgument(c, Launch{ImageType: image, Servers: 1, IPFamily: 6}, "--public_address=", v1beta2.EnvPublicIP)
		got, err := a.Generate(1, env)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s image (-want +got):\n%s", image, diff)
		}
	}
}

func TestBinariesComeFromTheirOwnContainerUnlessVersionsDiffer(t *testing.T) {
	version := func(text string) fdb.Version {
		v, err := fdb.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tests := map[string]struct {
		image              v1beta2.ImageType
		container, desired string
		dir                string
	}{
		"unified, same version":               {v1beta2.ImageTypeUnified, "7.3.79", "7.3.79", "/usr/bin"},
		"unified, patch of the same line":     {v1beta2.ImageTypeUnified, "7.3.43", "7.3.79", "/usr/bin"},
		"unified, upgrade to another line":    {v1beta2.ImageTypeUnified, "7.1.67", "7.3.79", "/var/fdb/shared-binaries/bin/7.3.79"},
		"split, same version":                 {v1beta2.ImageTypeSplit, "7.3.79", "7.3.79", "/usr/bin"},
		"split, the sidecar is a patch up":    {v1beta2.ImageTypeSplit, "7.3.43", "7.3.79", "/var/dynamic-conf/bin/7.3.79"},
		"split, the sidecar is on a new line": {v1beta2.ImageTypeSplit, "7.1.67", "7.3.79", "/var/dynamic-conf/bin/7.3.79"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.dir, BinaryDir(tt.image, version(tt.container), version(tt.desired))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
