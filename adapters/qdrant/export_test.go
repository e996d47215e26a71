package qdrant

// For the tests, which stand outside of the package.
var (
	EncodeValue = encodeValue
	PointID     = pointID
)

// Config is the store's configuration.
func (s *Store) Config() Config { return s.cfg }
