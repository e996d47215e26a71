package httpapi

// OwnPatterns lists the routes that the package serves itself.
func OwnPatterns(s *Server) []string {
	var patterns []string
	for _, route := range s.ownRoutes() {
		patterns = append(patterns, route.Pattern)
	}
	return patterns
}
