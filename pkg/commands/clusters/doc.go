// Package clusters holds the commands that read clusters: status, describe, events, version and the lists of get.
package clusters
