package volumes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
)

// Projector makes the directories behind a pod's volumes.
type Projector struct {
	Client     kubernetes.Interface
	ConfigMaps corelisters.ConfigMapLister
	Claims     corelisters.PersistentVolumeClaimLister
	Volumes    corelisters.PersistentVolumeLister
}

// Prepare makes or refreshes the directory of every volume of the pod below
// dir and returns them by volume name. It can be called again at any time;
// directories whose content is unchanged are left alone.
func (p *Projector) Prepare(ctx context.Context, pod *corev1.Pod, dir string) (map[string]string, error) {
	paths := map[string]string{}
	var errs []error
	for _, v := range pod.Spec.Volumes {
		path, err := p.prepare(ctx, pod, v, filepath.Join(dir, v.Name))
		if err != nil {
			errs = append(errs, fmt.Errorf("volume %q: %w", v.Name, err))
			continue
		}
		paths[v.Name] = path
	}
	return paths, errors.Join(errs...)
}

func (p *Projector) prepare(ctx context.Context, pod *corev1.Pod, v corev1.Volume, dir string) (string, error) {
	switch {
	case v.EmptyDir != nil:
		return dir, os.MkdirAll(dir, 0o755)
	case v.PersistentVolumeClaim != nil:
		return p.claimed(pod.Namespace, v.PersistentVolumeClaim.ClaimName)
	}
	content, err := p.content(ctx, pod, v, dir)
	if err != nil {
		return "", err
	}
	return dir, writeProjection(dir, content)
}

// claimed is the directory of the volume a claim is bound to.
func (p *Projector) claimed(namespace, name string) (string, error) {
	claim, err := p.Claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return "", err
	}
	if claim.Status.Phase != corev1.ClaimBound {
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound", name)
	}
	volume, err := p.Volumes.Get(claim.Spec.VolumeName)
	if err != nil {
		return "", err
	}
	return Directory(volume)
}

// content is what the files of a projected volume hold, by path.
func (p *Projector) content(ctx context.Context, pod *corev1.Pod, v corev1.Volume, dir string) (map[string][]byte, error) {
	switch {
	case v.ConfigMap != nil:
		return p.configMap(pod.Namespace, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		return p.secret(ctx, pod.Namespace, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return fields(pod, v.DownwardAPI.Items)
	case v.Projected != nil:
		return p.projected(ctx, pod, v.Projected.Sources, dir)
	}
	return nil, errors.New("the sandbox has no volumes of this kind")
}

func (p *Projector) projected(ctx context.Context, pod *corev1.Pod, sources []corev1.VolumeProjection, dir string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, s := range sources {
		content, err := p.source(ctx, pod, s, dir)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, content)
	}
	return all, nil
}

func (p *Projector) source(ctx context.Context, pod *corev1.Pod, s corev1.VolumeProjection, dir string) (map[string][]byte, error) {
	switch {
	case s.ConfigMap != nil:
		return p.configMap(pod.Namespace, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional)
	case s.Secret != nil:
		return p.secret(ctx, pod.Namespace, s.Secret.Name, s.Secret.Items, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return fields(pod, s.DownwardAPI.Items)
	case s.ServiceAccountToken != nil:
		return p.token(ctx, pod, s.ServiceAccountToken, dir)
	}
	return nil, errors.New("the sandbox has no projections of this kind")
}

func (p *Projector) configMap(namespace, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	m, err := p.ConfigMaps.ConfigMaps(namespace).Get(name)
	if err != nil {
		return nil, unless(optional, fmt.Errorf("configmap %q not found", name))
	}
	data := maps.Clone(m.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range m.Data {
		data[key] = []byte(value)
	}
	return choose(data, items, optional)
}

func (p *Projector) secret(ctx context.Context, namespace, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	s, err := p.Client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unless(optional, fmt.Errorf("secret %q not found", name))
	}
	return choose(s.Data, items, optional)
}

func unless(optional *bool, err error) error {
	if optional != nil && *optional {
		return nil
	}
	return err
}

// choose picks the listed keys, or all of them when none is listed.
func choose(data map[string][]byte, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	if len(items) == 0 {
		return data, nil
	}
	chosen := map[string][]byte{}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			if err := unless(optional, fmt.Errorf("references non-existent config key: %s", item.Key)); err != nil {
				return nil, err
			}
			continue
		}
		chosen[item.Path] = value
	}
	return chosen, nil
}

func fields(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile) (map[string][]byte, error) {
	content := map[string][]byte{}
	for _, item := range items {
		if item.FieldRef == nil {
			return nil, fmt.Errorf("%s: the sandbox projects pod fields only", item.Path)
		}
		value, err := fieldpath.ExtractFieldPathAsString(pod, item.FieldRef.FieldPath)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", item.Path, err)
		}
		content[item.Path] = []byte(value)
	}
	return content, nil
}

// tokenLifetimeSeconds is one year: longer than a sandbox lives.
const tokenLifetimeSeconds int64 = 365 * 24 * 3600

// token requests a service account token once per pod.
func (p *Projector) token(ctx context.Context, pod *corev1.Pod, t *corev1.ServiceAccountTokenProjection, dir string) (map[string][]byte, error) {
	if old, err := os.ReadFile(filepath.Join(dir, dataLink, t.Path)); err == nil {
		return map[string][]byte{t.Path: old}, nil
	}
	ask := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(tokenLifetimeSeconds),
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	if t.Audience != "" {
		ask.Spec.Audiences = []string{t.Audience}
	}
	answer, err := p.Client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, ask, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("request a token: %w", err)
	}
	return map[string][]byte{t.Path: []byte(answer.Status.Token)}, nil
}

const (
	dataLink    = "..data" // the kubelet's names: readers follow the link, writers swap it
	dataLinkNew = "..data_tmp"
)

// writeProjection replaces a volume's files all at once, the way the kubelet
// does: each file is a link through a link that is swapped.
func writeProjection(dir string, content map[string][]byte) error {
	if same(dir, content) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	version, err := os.MkdirTemp(dir, "..")
	if err != nil {
		return err
	}
	if err := os.Chmod(version, 0o755); err != nil {
		return err
	}
	old, _ := os.Readlink(filepath.Join(dir, dataLink))
	if err := writeFiles(version, content); err != nil {
		return err
	}
	if err := swap(dir, filepath.Base(version)); err != nil {
		return err
	}
	if err := relink(dir, content); err != nil || old == "" {
		return err
	}
	return os.RemoveAll(filepath.Join(dir, old))
}

func same(dir string, content map[string][]byte) bool {
	current := filepath.Join(dir, dataLink)
	var found int
	err := filepath.WalkDir(current+"/", func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	})
	if err != nil || found != len(content) {
		return false
	}
	for name, want := range content {
		if have, err := os.ReadFile(filepath.Join(current, name)); err != nil || !bytes.Equal(have, want) {
			return false
		}
	}
	return true
}

func writeFiles(dir string, content map[string][]byte) error {
	for name, data := range content {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func swap(dir, version string) error {
	next := filepath.Join(dir, dataLinkNew)
	if err := os.RemoveAll(next); err != nil {
		return err
	}
	if err := os.Symlink(version, next); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, dataLink))
}

// relink makes the visible names those of the content.
func relink(dir string, content map[string][]byte) error {
	visible := map[string]bool{}
	for name := range content {
		first, _, _ := strings.Cut(name, "/")
		visible[first] = true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "..") && !visible[e.Name()] {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(visible)) {
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
