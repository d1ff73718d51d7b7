package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// imagePath is the PATH of every image.
const imagePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is what a container's programs are started with.
type environment map[string]string

func (e environment) list() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e)) {
		all = append(all, name+"="+e[name])
	}
	return all
}

// expand replaces $(NAME) in a command or an argument.
func (e environment) expand(words []string) []string {
	mapping := expansion.MappingFuncFor(e)
	var all []string
	for _, w := range words {
		all = append(all, expansion.Expand(w, mapping))
	}
	return all
}

// podIPVariable has the address of the pod for a container's programs. Elsewhere the
// network does: whoever a program talks to sees it.
const podIPVariable = "FDB_SANDBOX_POD_IP"

// environment resolves the variables of a container.
func (a *Agent) environment(ctx context.Context, pod *corev1.Pod, c corev1.Container, hostname, address string) (environment, error) {
	e := environment{"PATH": imagePath, "HOME": "/root", "HOSTNAME": hostname, podIPVariable: address}
	for _, from := range c.EnvFrom {
		if err := a.addFrom(ctx, e, pod.Namespace, from); err != nil {
			return nil, err
		}
	}
	for _, v := range c.Env {
		value, ok, err := a.variable(ctx, e, pod, v, address)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		if ok {
			e[v.Name] = value
		}
	}
	return e, nil
}

func (a *Agent) addFrom(ctx context.Context, e environment, namespace string, from corev1.EnvFromSource) error {
	switch {
	case from.ConfigMapRef != nil:
		m, err := a.projector.ConfigMaps.ConfigMaps(namespace).Get(from.ConfigMapRef.Name)
		if err != nil {
			return optional(from.ConfigMapRef.Optional, fmt.Errorf("configmap %q not found", from.ConfigMapRef.Name))
		}
		for key, value := range m.Data {
			e[from.Prefix+key] = value
		}
	case from.SecretRef != nil:
		s, err := a.Client.CoreV1().Secrets(namespace).Get(ctx, from.SecretRef.Name, metav1.GetOptions{})
		if err != nil {
			return optional(from.SecretRef.Optional, fmt.Errorf("secret %q not found", from.SecretRef.Name))
		}
		for key, value := range s.Data {
			e[from.Prefix+key] = string(value)
		}
	}
	return nil
}

func optional(is *bool, err error) error {
	if is != nil && *is {
		return nil
	}
	return err
}

// variable resolves one variable; an optional one without a source has no value.
func (a *Agent) variable(ctx context.Context, e environment, pod *corev1.Pod, v corev1.EnvVar, address string) (value string, ok bool, err error) {
	from := v.ValueFrom
	switch {
	case from == nil:
		return expansion.Expand(v.Value, expansion.MappingFuncFor(e)), true, nil
	case from.FieldRef != nil:
		value, err := field(pod, from.FieldRef.FieldPath, address)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		return a.configMapKey(pod.Namespace, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return a.secretKey(ctx, pod.Namespace, from.SecretKeyRef)
	}
	return "", false, errors.New("the sandbox has no variables from this source")
}

// field is one field of the pod, including those only its node knows.
func field(pod *corev1.Pod, path, address string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return "127.0.0.1", nil
	case "status.podIP", "status.podIPs":
		return address, nil
	}
	return fieldpath.ExtractFieldPathAsString(pod, path)
}

func (a *Agent) configMapKey(namespace string, ref *corev1.ConfigMapKeySelector) (value string, ok bool, err error) {
	m, err := a.projector.ConfigMaps.ConfigMaps(namespace).Get(ref.Name)
	if err != nil {
		return "", false, optional(ref.Optional, fmt.Errorf("configmap %q not found", ref.Name))
	}
	if value, ok := m.Data[ref.Key]; ok {
		return value, true, nil
	}
	return "", false, optional(ref.Optional, fmt.Errorf("couldn't find key %s in ConfigMap %s/%s", ref.Key, namespace, ref.Name))
}

func (a *Agent) secretKey(ctx context.Context, namespace string, ref *corev1.SecretKeySelector) (value string, ok bool, err error) {
	s, err := a.Client.CoreV1().Secrets(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return "", false, optional(ref.Optional, fmt.Errorf("secret %q not found", ref.Name))
	}
	if value, ok := s.Data[ref.Key]; ok {
		return string(value), true, nil
	}
	return "", false, optional(ref.Optional, fmt.Errorf("couldn't find key %s in Secret %s/%s", ref.Key, namespace, ref.Name))
}

// hostnameOf is what a pod calls itself.
func hostnameOf(pod *corev1.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return strings.TrimRight(pod.Name[:min(len(pod.Name), 63)], "-.")
}
