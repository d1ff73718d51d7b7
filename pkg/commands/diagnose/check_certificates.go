package diagnose

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/inspect/check"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/plan"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// CertificatesOf returns the validity of the certificates in Secrets that a cluster with TLS
// mounts; nil without TLS. Nothing else of a Secret is read. A Secret that cannot be read is a
// fact.
func CertificatesOf(ctx context.Context, c client.Client, s plan.Snapshot) map[string]check.Secret {
	if !s.Cluster.Spec.MainContainer.EnableTLS && !s.Cluster.Spec.SidecarContainer.EnableTLS {
		return nil
	}
	secrets := map[string]check.Secret{}
	for _, name := range mountedSecrets(s) {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, types.NamespacedName{Namespace: s.Cluster.Namespace, Name: name}, secret); err != nil {
			secrets[name] = check.Secret{Unread: exit.Explain(err)}
			continue
		}
		secrets[name] = expiries(secret.Data)
	}
	return secrets
}

// mountedSecrets returns the Secrets that pods of the cluster mount, sorted by name.
func mountedSecrets(s plan.Snapshot) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, pod := range s.Pods {
		for _, volume := range pod.Spec.Volumes {
			if volume.Secret != nil {
				add(volume.Secret.SecretName)
			}
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.Secret != nil {
					add(source.Secret.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// expiries returns the validity of the first certificate to expire under each key of a Secret, and
// when the newest of all became valid.
func expiries(data map[string][]byte) check.Secret {
	found := check.Secret{Expires: map[string]time.Time{}, ValidFrom: map[string]time.Time{}}
	for key, text := range data {
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			if block.Type != "CERTIFICATE" {
				continue
			}
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				found.Unread = fmt.Sprintf("a certificate in %s cannot be read: %v", key, err)
				continue
			}
			if end, known := found.Expires[key]; !known || certificate.NotAfter.Before(end) {
				found.Expires[key], found.ValidFrom[key] = certificate.NotAfter, certificate.NotBefore
			}
			found.Fingerprints = append(found.Fingerprints, fdb.Fingerprint(block.Bytes))
			if certificate.NotBefore.After(found.Issued) {
				found.Issued = certificate.NotBefore
			}
		}
	}
	return found
}
