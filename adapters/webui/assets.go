package webui

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var assets embed.FS

// Policy is the Content-Security-Policy of the page: nothing from elsewhere, no inline script or style, no framing.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are the media types of the files; the system's table, which may lack them, is not asked.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Files lists the paths of the page and of what it is made of; [Page.ServeAsset] answers GET of each.
func Files() []string {
	paths := []string{"/ui"}
	entries, _ := assets.ReadDir("assets") // embedded: it is there
	for _, entry := range entries {
		paths = append(paths, "/ui/"+entry.Name())
	}
	return paths
}

// ServeAsset answers GET of one of [Files].
func (p *Page) ServeAsset(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/ui")
	if name == "" {
		name = "index.html"
	}
	content, err := fs.ReadFile(assets, path.Join("assets", name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", types[path.Ext(name)])
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(content) // a client that has left is in nobody's way
}
