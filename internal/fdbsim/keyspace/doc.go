// Package keyspace holds the keys and values of a database with their past versions.
package keyspace
