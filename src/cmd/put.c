#include "cmd/put.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/escape.h"
#include "base/outfile.h"
#include "cli/opt.h"
#include "config.h"
#include "out/term.h"

#include <string.h>
#include <unistd.h>

int put_text(const char *path, const struct buf *text)
{
	struct buf why = {0};
	int err = outfile_put(path, text, &why);
	if (err)
		diag_error("%s", buf_str(&why));
	buf_free(&why);
	return err ? EXIT_OWN : 0;
}

void put_errors(const char *prefix, const struct buf *text)
{
	for (const char *p = buf_str(text); *p;) {
		size_t len = strcspn(p, "\n");
		diag_error("%s%.*s", prefix, (int)len, p);
		p += len + (p[len] == '\n');
	}
}

void put_usage_error(const char *prefix, const char *text)
{
	size_t len = strcspn(text, "\n");
	diag_error("%s%.*s", prefix, (int)len, text);
	struct buf rest = {0};
	for (const char *p = text + len; *p;) {
		size_t n = strcspn(++p, "\n");
		escape_line(&rest, p, n);
		buf_addc(&rest, '\n');
		p += n;
	}
	if (rest.len && write(STDERR_FILENO, rest.s, rest.len) < 0)
		(void)0; /* an error cannot be reported anywhere */
	buf_free(&rest);
}

static int put_help(const struct opt_command *c)
{
	struct buf help = {0};
	struct table_look look = term_look(STDOUT_FILENO);
	opt_help(c, &help, look.width, look.colour);
	int status = put_text(NULL, &help);
	buf_free(&help);
	return status;
}

static int put_version(void)
{
	static const char line[] = "sctrace " SCTRACE_VERSION "\n";
	return put_text(NULL, &(struct buf){.s = (char *)line, .len = sizeof(line) - 1});
}

int put_outcome(const struct opt_command *c, enum opt_outcome outcome, const char *prefix, const struct buf *why)
{
	if (outcome == OPT_HELP)
		return put_help(c);
	if (outcome == OPT_VERSION)
		return put_version();
	if (outcome == OPT_OK)
		return 0;
	struct buf text = {0};
	buf_adds(&text, buf_str(why));
	if (!strchr(buf_str(why), '\n'))
		buf_addf(&text, " (see %s --help)", c->name);
	put_usage_error(prefix, buf_str(&text));
	buf_free(&text);
	return EXIT_USAGE;
}
