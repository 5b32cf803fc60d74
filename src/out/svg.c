/* SPDX-License-Identifier: MIT */
#include "out/svg.h"

#include "base/buf.h"
#include "base/escape.h"

#include <stddef.h>
#include <string.h>

/*
 * The colours of series are from Okabe and Ito, "Color universal design" (2008); colour-blind readers can distinguish
 * them. Dark mode has lighter colours of the same hues. The style sheet contains the colours themselves, because many
 * SVG viewers do not support CSS variables.
 */
static const char style[] =
	"<style>\n"
	".c text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:12px}\n"
	".c .bg{fill:#fff}.c .t{fill:#1c2024}.c .m{fill:#5f6b76}\n"
	".c .h{fill:#1c2024;font-weight:600}.c .ht{font-size:16px}\n"
	".c .n{fill:#fff;font-weight:600;font-size:11px}\n"
	".c .l{fill:#1c2024;font-size:11px}.c "
	".lh{fill:none;stroke:#fff;stroke-width:3;stroke-linejoin:round;font-size:11px}\n"
	".c .g{stroke:#e3e7eb}.c .gm{stroke:#f1f3f5}.c .a{stroke:#8a949e}\n"
	".c .w{stroke:#1c2024;stroke-width:1.4}.c .d{stroke:#5f6b76;stroke-dasharray:4 3}\n"
	".c .ln{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
	".c .s0{stroke:#0072b2}.c .s1{stroke:#d55e00}.c .s2{stroke:#009e73}.c .s3{stroke:#b0548a}\n"
	".c .s4{stroke:#b8860b}.c .s5{stroke:#3f8fc4}.c .s6{stroke:#7a5cc0}.c .s7{stroke:#5f6b76}\n"
	".c .f0{fill:#0072b2}.c .f1{fill:#d55e00}.c .f2{fill:#009e73}.c .f3{fill:#b0548a}\n"
	".c .f4{fill:#b8860b}.c .f5{fill:#3f8fc4}.c .f6{fill:#7a5cc0}.c .f7{fill:#5f6b76}\n"
	".c .p{fill-opacity:.22}.c .b{fill-opacity:.72}.c .v{font-size:11px;font-weight:600;fill:#1c2024}.c "
	".sm{font-size:11px}.c .bx{stroke-width:1.6}\n"
	"@media screen and (prefers-color-scheme:dark){\n"
	".c .bg{fill:#14171a}.c .t,.c .h{fill:#e6e9ec}.c .m{fill:#9aa5b0}.c .n{fill:#14171a}\n"
	".c .l{fill:#e6e9ec}.c .lh{stroke:#14171a}.c .v{fill:#e6e9ec}\n"
	".c .g{stroke:#2b3137}.c .gm{stroke:#20252a}.c .a{stroke:#6d7882}.c .w{stroke:#e6e9ec}.c .d{stroke:#9aa5b0}\n"
	".c .s0{stroke:#56b4e9}.c .s1{stroke:#ff9150}.c .s2{stroke:#3ecfa0}.c .s3{stroke:#e89ac6}\n"
	".c .s4{stroke:#f0c04a}.c .s5{stroke:#9fd3f5}.c .s6{stroke:#b9a3f0}.c .s7{stroke:#9aa5b0}\n"
	".c .f0{fill:#56b4e9}.c .f1{fill:#ff9150}.c .f2{fill:#3ecfa0}.c .f3{fill:#e89ac6}\n"
	".c .f4{fill:#f0c04a}.c .f5{fill:#9fd3f5}.c .f6{fill:#b9a3f0}.c .f7{fill:#9aa5b0}\n"
	"}\n</style>\n";

void svg_escape(struct buf *out, const char *text)
{
	static const char *const entities[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		const char *entity = entities[(unsigned char)*text];
		size_t printable = escape_utf8_len(text, left);
		n = printable ? printable : 1;
		if (entity)
			buf_adds(out, entity);
		else
			buf_add(out, text, printable);
	}
}

void svg_begin(struct buf *out, double width, double height, const char *title)
{
	buf_addf(out,
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"c\" role=\"img\" width=\"%.0f\" height=\"%.0f\" "
		 "viewBox=\"0 0 %.0f %.0f\">\n<title>",
		 width, height, width, height);
	svg_escape(out, title);
	buf_adds(out, "</title>\n");
	buf_adds(out, style);
	svg_rect(out, 0, 0, width, height, "bg", NULL);
}

void svg_end(struct buf *out)
{
	buf_adds(out, "</svg>\n");
}

void svg_text(struct buf *out, double x, double y, const char *class, const char *anchor, const char *text)
{
	/*
	 * The label "l" has a halo, so that it is legible on lines and dots. The halo is an element of its own, because some
	 * viewers do not support paint-order and would draw it over the label.
	 */
	if (strcmp(class, "l") == 0) {
		buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"lh\" text-anchor=\"%s\" aria-hidden=\"true\">", x, y,
			 anchor);
		svg_escape(out, text);
		buf_adds(out, "</text>\n");
	}
	buf_addf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\">", x, y, class, anchor);
	svg_escape(out, text);
	buf_adds(out, "</text>\n");
}

void svg_text_up(struct buf *out, double x, double y, const char *text)
{
	buf_addf(out,
		 "<text x=\"%.1f\" y=\"%.1f\" class=\"m\" text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\">",
		 x, y, x, y);
	svg_escape(out, text);
	buf_adds(out, "</text>\n");
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class)
{
	buf_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2, y2, class);
}

/* Ends an SVG element of a shape. If `tip` is not NULL, the element contains a tooltip. */
static void close_shape(struct buf *out, const char *element, const char *tip)
{
	if (!tip) {
		buf_adds(out, "/>\n");
		return;
	}
	buf_adds(out, "><title>");
	svg_escape(out, tip);
	buf_addf(out, "</title></%s>\n", element);
}

void svg_rect(struct buf *out, double x, double y, double w, double h, const char *class, const char *tip)
{
	buf_addf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"", x, y, w > 0 ? w : 0,
		 h > 0 ? h : 0, class);
	close_shape(out, "rect", tip);
}

void svg_circle(struct buf *out, double x, double y, double r, const char *class, const char *tip)
{
	buf_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" class=\"%s\"", x, y, r, class);
	close_shape(out, "circle", tip);
}

/* Returns the width of the character whose first byte is `c`. The other bytes of a character have no width. */
static double char_width(unsigned char c)
{
	if ((c & 0xc0) == 0x80)
		return 0;
	/* Nearly all characters from U+3000 on have full width. */
	if (c >= 0xe3)
		return 1;
	return strchr(" .,:;|!'ijl()[]/tfr", c) ? 0.37 : c >= 'A' && c <= 'Z' ? 0.7 : strchr("mw%@+<>=", c) ? 0.9 : 0.6;
}

double svg_text_width(const char *text, double size)
{
	double width = 0;
	for (; *text; text++)
		width += char_width((unsigned char)*text);
	return width * size;
}

void svg_cut(struct buf *out, const char *text, double size, double width)
{
	double used = 0;
	size_t fits = 0; /* bytes that leave room for the ellipsis */
	if (svg_text_width(text, size) <= width) {
		buf_adds(out, text);
		return;
	}
	while (text[fits] && (used += char_width((unsigned char)text[fits]) * size) <= width - size)
		fits++;
	while (fits && ((unsigned char)text[fits] & 0xc0) == 0x80)
		fits--; /* a character must not be split */
	buf_add(out, text, fits);
	buf_adds(out, "…");
}

const char *svg_class(enum svg_paint paint, size_t i)
{
	static const char *const names[][SVG_COLOURS] = {
		[SVG_STROKE] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"},
		[SVG_FILL] = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"},
		[SVG_BAR] = {"b f0", "b f1", "b f2", "b f3", "b f4", "b f5", "b f6", "b f7"},
		[SVG_PALE] = {"p f0", "p f1", "p f2", "p f3", "p f4", "p f5", "p f6", "p f7"},
	};
	return names[paint][i % SVG_COLOURS];
}
