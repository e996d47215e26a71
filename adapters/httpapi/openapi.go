package httpapi

import (
	_ "embed"
	"net/http"
)

// openAPI is the description of the interface, OpenAPI 3.1.
//
//go:embed openapi.json
var openAPI []byte

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*") // public, and read by documentation viewers of other origins
	_, _ = w.Write(openAPI)
}
