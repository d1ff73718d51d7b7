package objects

// FirstPort is the port of a pod's first server, with or without TLS.
func FirstPort(tls bool) int {
	if tls {
		return tlsListener.portOf(1)
	}
	return plainListener.portOf(1)
}
