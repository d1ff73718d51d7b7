// Package describe holds the documents of kubectl fdb describe.
package describe
