// Package frame holds everything that the dashboard shows of a cluster at one time, as one document.
package frame
