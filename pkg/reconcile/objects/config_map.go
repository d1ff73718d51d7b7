package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
)

// Keys of the ConfigMap.
const (
	// KeyClusterFile holds the connection string.
	KeyClusterFile = "cluster-file"
	// KeyRunningVersion holds the version that the processes run; empty while unknown.
	KeyRunningVersion = "running-version"
	// KeyCAFile holds the trusted certificates; absent when there are none.
	KeyCAFile = "ca-file"
	// keySidecarConf may come from the user's own data only, but counts in a hash.
	keySidecarConf = "sidecar-conf"
	// monitorKeyPrefix begins the keys of all monitor configurations.
	monitorKeyPrefix = "fdbmonitor-conf-"
)

// monitorKey is the key of the monitor configuration that a pod mounts.
func monitorKey(l Launch) string {
	switch {
	case l.ImageType == v1beta2.ImageTypeUnified:
		return fmt.Sprintf(monitorKeyPrefix+"%s-json", l.Class)
	case l.Servers > 1:
		return fmt.Sprintf(monitorKeyPrefix+"%s-density-%d", l.Class, l.Servers)
	default:
		return monitorKeyPrefix + string(l.Class)
	}
}

// ConfigMap is the ConfigMap that the pods of a cluster mount.
//
// In one point it departs from the operator's: the monitor configuration of a class remains
// as long as there are process groups of the class. The operator removes it with the last
// desired group while others are still draining, and a pod without its key cannot start
// again.
func ConfigMap(c *v1beta2.FoundationDBCluster) (*corev1.ConfigMap, error) {
	data := clusterData(c)
	for _, class := range slices.Concat(desiredClasses(c), drainingClasses(c)) {
		monitor, err := monitorData(c, class)
		if err != nil {
			return nil, err
		}
		maps.Copy(data, monitor)
	}
	var template *metav1.ObjectMeta
	if c.Spec.ConfigMap != nil {
		template = &c.Spec.ConfigMap.ObjectMeta
		maps.Copy(data, c.Spec.ConfigMap.Data)
	}
	return &corev1.ConfigMap{ObjectMeta: metadata(c, template, c.ConfigMapName(), nil), Data: data}, nil
}

// ConfigMapHash is the hash of the part of the ConfigMap that a pod uses, as the operator
// computes it: a class that is no longer desired counts as having no monitor configuration,
// even if ConfigMap still has it.
func ConfigMapHash(c *v1beta2.FoundationDBCluster, l Launch) (string, error) {
	data := clusterData(c)
	if slices.Contains(desiredClasses(c), l.Class) {
		monitor, err := monitorData(c, l.Class)
		if err != nil {
			return "", err
		}
		maps.Copy(data, monitor)
	}
	if c.Spec.ConfigMap != nil {
		maps.Copy(data, c.Spec.ConfigMap.Data)
	}
	used := map[string]string{}
	for _, key := range []string{KeyClusterFile, monitorKey(l), KeyRunningVersion, KeyCAFile, keySidecarConf} {
		if value, found := data[key]; found {
			used[key] = value
		}
	}
	return SpecHash(used)
}

func clusterData(c *v1beta2.FoundationDBCluster) map[string]string {
	data := map[string]string{
		KeyClusterFile:    c.Status.ConnectionString,
		KeyRunningVersion: c.Status.RunningVersion,
	}
	if authorities := strings.Join(c.Spec.TrustedCAs, "\n"); authorities != "" {
		data[KeyCAFile] = authorities
	}
	return data
}

// desiredClasses are the classes with a desired process count above 0.
func desiredClasses(c *v1beta2.FoundationDBCluster) []v1beta2.ProcessClass {
	var classes []v1beta2.ProcessClass
	for class, count := range c.DesiredProcessCounts() {
		if count > 0 {
			classes = append(classes, class)
		}
	}
	return classes
}

// drainingClasses are the classes with process groups and a desired process count of 0.
func drainingClasses(c *v1beta2.FoundationDBCluster) []v1beta2.ProcessClass {
	desired := desiredClasses(c)
	var classes []v1beta2.ProcessClass
	for _, g := range c.Status.ProcessGroups {
		if !slices.Contains(desired, g.ProcessClass) && !slices.Contains(classes, g.ProcessClass) {
			classes = append(classes, g.ProcessClass)
		}
	}
	return classes
}

// monitorData are the monitor configurations of a class: for every image type and
// every number of processes that its pods have or should have.
func monitorData(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) (map[string]string, error) {
	data := map[string]string{}
	for _, l := range launches(c, class) {
		text, err := monitorText(c, l)
		if err != nil {
			return nil, err
		}
		data[monitorKey(l)] = text
	}
	return data, nil
}

func launches(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []Launch {
	desired := DesiredLaunch(c, class)
	var all []Launch
	for _, t := range append([]v1beta2.ImageType{desired.ImageType}, c.Status.ImageTypes...) {
		l := Launch{Class: class, ImageType: t, IPFamily: desired.IPFamily}
		if t == v1beta2.ImageTypeUnified { // the monitor has a flag for the number of processes
			all = append(all, l)
			continue
		}
		for _, l.Servers = range serversInUse(c, class) {
			all = append(all, l)
		}
	}
	return all
}

// serversInUse are the numbers of processes that pods of a class have: more than one
// during a change.
func serversInUse(c *v1beta2.FoundationDBCluster, class v1beta2.ProcessClass) []int {
	inUse := []int{}
	switch {
	case class == v1beta2.ProcessClassStorage:
		inUse = c.Status.StorageServersPerDisk
	case class.IsLog():
		inUse = c.Status.LogServersPerDisk
	}
	if len(inUse) == 0 {
		return []int{c.ServersPerPod(class)}
	}
	return inUse
}

func monitorText(c *v1beta2.FoundationDBCluster, l Launch) (string, error) {
	if l.ImageType != v1beta2.ImageTypeUnified {
		return MonitorConf(c, l, nil)
	}
	m, err := MonitorConfiguration(c, l)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode monitor configuration of class %s: %w", l.Class, err)
	}
	return string(text), nil
}
