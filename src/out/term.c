#include "out/term.h"

#include "base/size.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the width of a terminal, or 0 if it is unknown. */
static int width_of_terminal(int fd)
{
	struct winsize ws;
	return ioctl(fd, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
}

/* Returns the width of the terminal on which the command was typed, if `fd` is a pipe (`| less`), or else 0. */
static int width_behind_pipe(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return 0;
	int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int width = terminal < 0 ? 0 : width_of_terminal(terminal);
	if (terminal >= 0)
		close(terminal);
	return width;
}

int term_cut_width(int fd)
{
	if (isatty(fd)) {
		int width = width_of_terminal(fd);
		return width ? width : 80;
	}
	const char *columns = getenv("COLUMNS");
	int64_t width;
	return columns && number_parse(columns, 1, 10000, &width) == 0 ? (int)width : 0;
}

struct table_look term_look(int fd)
{
	struct table_look look = {.width = term_cut_width(fd)};
	if (!look.width)
		look.width = width_behind_pipe(fd);
	if (!isatty(fd))
		return look;
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	look.colour = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	return look;
}
