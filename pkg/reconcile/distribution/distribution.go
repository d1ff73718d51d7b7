// Package distribution computes how pods are packed into fault domains: the distribution key of
// each process group, the bucket of a new one, and the process groups that have to be replaced
// for another packing.
package distribution

import (
	"slices"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
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
