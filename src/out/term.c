#include "out/term.h"

#include "base/size.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct table_look term_look(int fd)
{
	struct table_look look = {0};
	if (!isatty(fd)) {
		const char *columns = getenv("COLUMNS");
		int64_t width;
		if (columns && number_parse(columns, 1, 10000, &width) == 0)
			look.width = (int)width;
		return look;
	}
	struct winsize ws;
	look.width = ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	look.colour = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	return look;
}
