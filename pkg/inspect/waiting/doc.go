// Package waiting holds the conditions of kubectl fdb wait: how each is decided, and the document that reports it.
package waiting
