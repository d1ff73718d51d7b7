// Package distribution computes how pods are packed into fault domains: the distribution key of
// each process group, the bucket of a new one, and the process groups that have to be replaced
// for another packing.
package distribution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/stable"
)

// Distribution is how a cluster packs its pods into fault domains. The process groups of a class
// whose numbers have the same remainder are a bucket; buckets of one pack with the same remainder
// share a distribution key, and their pods a fault domain.
type Distribution struct{ settings v1beta2.DistributionSettings }

// Of returns the distribution of a normalized cluster.
func Of(c *v1beta2.FoundationDBCluster) Distribution { return Distribution{c.Distribution()} }

// Enabled reports whether pods are packed at all.
func (d Distribution) Enabled() bool { return d.settings.Enabled }

// Domains returns the desired number of fault domains; at least 1 where pods are packed.
func (d Distribution) Domains() int { return d.settings.DesiredFaultDomains }

// Required reports whether pods may run nowhere else.
func (d Distribution) Required() bool { return d.settings.Required }

// Packs reports whether the pods of a class are packed. Testers hold nothing that the database
// needs, and are not.
func (d Distribution) Packs(class v1beta2.ProcessClass) bool {
	return d.settings.Enabled && !isTester(class)
}

func isTester(class v1beta2.ProcessClass) bool {
	return class == v1beta2.ProcessClassTester || class == v1beta2.ProcessClassTest
}

// The packs of several classes. A class that is packed alone has a pack of its own name.
const (
	packAll       = "all"
	packStateful  = "stateful"
	packStateless = "stateless"
)

// Pack returns the name of the classes that a class is packed with.
func (d Distribution) Pack(class v1beta2.ProcessClass) string {
	switch {
	case d.settings.BinPack == v1beta2.BinPackAll:
		return packAll
	case d.settings.BinPack != v1beta2.BinPackStateful:
		return string(class)
	case class.IsStateful():
		return packStateful
	default:
		return packStateless
	}
}

// PackedWith returns the classes that a class is packed with, itself included, sorted; nil for all
// classes.
func (d Distribution) PackedWith(class v1beta2.ProcessClass) []v1beta2.ProcessClass {
	if d.settings.BinPack == v1beta2.BinPackAll {
		return nil
	}
	classes := slices.DeleteFunc(v1beta2.ProcessClasses(), func(other v1beta2.ProcessClass) bool {
		return isTester(other) || d.Pack(other) != d.Pack(class)
	})
	slices.Sort(classes)
	return classes
}

// Bucket returns the bucket of a process group's number, from 0. Pods must be packed.
func (d Distribution) Bucket(number int) int { return number % d.settings.DesiredFaultDomains }

// Key returns the distribution key of a bucket of a class.
func (d Distribution) Key(class v1beta2.ProcessClass, bucket int) string {
	return d.Pack(class) + "-" + strconv.Itoa(bucket)
}

// BucketOf returns the bucket of a process group. It has none if its class is not packed, or its
// ID has no number.
func (d Distribution) BucketOf(g *v1beta2.ProcessGroupStatus) (bucket int, packed bool) {
	if !d.Packs(g.ProcessClass) {
		return 0, false
	}
	_, _, number, err := g.ProcessGroupID.Split()
	if err != nil {
		return 0, false
	}
	return d.Bucket(number), true
}

// KeyOf returns the distribution key of a process group. It has none if it has no bucket.
func (d Distribution) KeyOf(g *v1beta2.ProcessGroupStatus) (key string, packed bool) {
	bucket, packed := d.BucketOf(g)
	if !packed {
		return "", false
	}
	return d.Key(g.ProcessClass, bucket), true
}

// Use is how pods use the fault domains that a cluster packs them into.
type Use struct {
	Enabled             bool            `json:"enabled"`
	DesiredFaultDomains int             `json:"desiredFaultDomains"`
	BinPack             v1beta2.BinPack `json:"binPack"`
	Required            bool            `json:"required"`
	// FaultDomains is how many the pods of a pack use, at most.
	FaultDomains int `json:"faultDomains"`
	// Unpacked is how many process groups that stay have a pod without a distribution key, or with
	// another than the spec gives it.
	Unpacked int `json:"unpacked"`
	// Buckets are those that have a process group, by class and then by key.
	Buckets []Bucket `json:"buckets"`
}

// Bucket is the process groups of a class with one distribution key.
type Bucket struct {
	Class v1beta2.ProcessClass `json:"class"`
	// Key is the distribution key of their pods, not that of the spec.
	Key           string `json:"key"`
	ProcessGroups int    `json:"processGroups"`
	// FaultDomains are those of their pods, as far as they are known, sorted.
	FaultDomains []string `json:"faultDomains"`
}

// Placed is a process group that stays and has a pod.
type Placed struct {
	Group *v1beta2.ProcessGroupStatus
	// Key is the distribution key of the pod, and Domain its fault domain; empty for none.
	Key, Domain string
}

// Use returns how pods use fault domains; nil where pods are not packed.
func (d Distribution) Use(placed []Placed) *Use {
	if !d.settings.Enabled {
		return nil
	}
	u := &Use{Enabled: true, DesiredFaultDomains: d.Domains(), BinPack: d.settings.BinPack, Required: d.settings.Required, Buckets: []Bucket{}}
	for _, p := range placed {
		want, packed := d.KeyOf(p.Group)
		if packed && p.Key != want {
			u.Unpacked++
		}
		if packed && p.Key != "" {
			u.add(p)
		}
	}
	stable.Sort(u.Buckets, func(a, b Bucket) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	for _, domains := range u.ofPacks() {
		u.FaultDomains = max(u.FaultDomains, len(domains))
	}
	return u
}

func (u *Use) add(p Placed) {
	i := slices.IndexFunc(u.Buckets, func(b Bucket) bool { return b.Class == p.Group.ProcessClass && b.Key == p.Key })
	if i < 0 {
		i = len(u.Buckets)
		u.Buckets = append(u.Buckets, Bucket{Class: p.Group.ProcessClass, Key: p.Key, FaultDomains: []string{}})
	}
	b := &u.Buckets[i]
	b.ProcessGroups++
	if at, found := slices.BinarySearch(b.FaultDomains, p.Domain); p.Domain != "" && !found {
		b.FaultDomains = slices.Insert(b.FaultDomains, at, p.Domain)
	}
}

// packOf returns the pack of a distribution key.
func packOf(key string) string {
	if i := strings.LastIndex(key, "-"); i >= 0 {
		return key[:i]
	}
	return key
}

// ofPacks returns the distribution keys in each fault domain of each pack, sorted.
func (u *Use) ofPacks() map[string]map[string][]string {
	packs := map[string]map[string][]string{}
	for _, b := range u.Buckets {
		pack := packOf(b.Key)
		if packs[pack] == nil {
			packs[pack] = map[string][]string{}
		}
		for _, domain := range b.FaultDomains {
			keys := packs[pack][domain]
			if at, found := slices.BinarySearch(keys, b.Key); !found {
				packs[pack][domain] = slices.Insert(keys, at, b.Key)
			}
		}
	}
	return packs
}

// Misplaced describes each distribution key whose pods are in several fault domains, and each fault
// domain with several keys of a pack, by the key or the fault domain.
func (u *Use) Misplaced() map[string]string {
	found, domainsOf := map[string]string{}, map[string][]string{}
	for _, domains := range u.ofPacks() {
		for domain, keys := range domains {
			if len(keys) > 1 {
				found["faultdomain/"+domain] = fmt.Sprintf("pods with the distribution keys %s share fault domain %s", strings.Join(keys, ", "), domain)
			}
			for _, key := range keys {
				domainsOf[key] = append(domainsOf[key], domain)
			}
		}
	}
	for key, domains := range domainsOf {
		if len(domains) > 1 {
			slices.Sort(domains)
			found["distributionkey/"+key] = fmt.Sprintf("pods with the distribution key %s are in several fault domains: %s", key, strings.Join(domains, ", "))
		}
	}
	return found
}

// Text returns the numbers as one clause: "3 of 3 fault domains, log 2/1/1, storage 1/1/1".
func (u *Use) Text() string {
	counts := map[v1beta2.ProcessClass][]string{}
	for _, b := range u.Buckets {
		counts[b.Class] = append(counts[b.Class], fmt.Sprint(b.ProcessGroups))
	}
	words := []string{phrase.CountOf(u.FaultDomains, u.DesiredFaultDomains, "fault domain")}
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, string(class)+" "+strings.Join(counts[class], "/"))
	}
	if u.Unpacked > 0 {
		words = append(words, fmt.Sprintf("%d not packed so yet", u.Unpacked))
	}
	return strings.Join(words, ", ")
}
