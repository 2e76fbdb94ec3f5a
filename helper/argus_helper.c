/* The one program that Argus runs in containers of its own: no shell, no files, no settings.
 *
 *   argus-helper relay PORT=HOST:PORT …   passes TCP connections on, from ports of its own to an address
 *   argus-helper probe [-t MS] [-w MS] [-h S] NAME[:PORT[!]] …
 *                                         what DNS answers for each name, and whether the port can be connected to;
 *                                         one line of JSON for each, and then it stays for S seconds at most
 *
 * Static, so that it needs nothing of an image. DNS is asked here and not by the C library, because what was answered
 * is what people want to know.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fputs("argus-helper: ", stderr);
    vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    va_end(rest);
    exit(2);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000.0 + (double)t.tv_nsec / 1e6;
}

/* The first process of a container hears only what it has a handler for. */
static void on_end(int signal) {
    (void)signal;
    _exit(0);
}

static long number(const char *text, long least, long most, const char *what) {
    char *end;
    errno = 0;
    long found = strtol(text, &end, 10);
    if (errno || end == text || *end || found < least || found > most) fail("%s: not a %s", text, what);
    return found;
}

/* ---------------------------------------------------------------------------------------------------------- relay */

enum { BUFFER = 16 * 1024, MOST_CONNECTIONS = 1000, MOST_PORTS = 64, EVENTS = 128 };

struct connection;

/* What epoll hands back: a listening socket, or one end of a connection. */
struct end {
    int fd;
    struct connection *of; /* NULL: it listens */
    uint32_t wanted;
    int is_watched;
    struct sockaddr_in to; /* of one that listens */
};

/* One direction: read from one end, written to the other. */
struct way {
    char data[BUFFER];
    size_t from, size;
    int ended; /* nothing more will come */
    int shut;  /* and the other end was told so */
};

struct connection {
    struct end ends[2]; /* 0: who came, 1: where it goes */
    struct way ways[2]; /* [n]: from ends[n] to the other */
    int connecting;
    int dead;
    struct connection *next_dead;
};

static int poller;
static int connections;
static int is_full;
static struct end listeners[MOST_PORTS];
static int listening;

static void watch(struct end *end, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = end};
    int how = end->is_watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(poller, how, end->fd, &event) != 0) fail("epoll: %s", strerror(errno));
    end->wanted = events;
    end->is_watched = 1;
}

static void want(struct end *end, uint32_t events) {
    if (end->wanted == events && end->is_watched == (events != 0)) return;
    if (events) {
        watch(end, events);
        return;
    }
    /* One that hung up is told of for ever, whatever is wanted: while its last words wait for a slow reader, it is not
     * looked at. */
    if (end->is_watched) epoll_ctl(poller, EPOLL_CTL_DEL, end->fd, NULL);
    end->is_watched = 0;
    end->wanted = 0;
}

static void listen_to_all(int on) {
    is_full = !on;
    for (int n = 0; n < listening; n++) want(&listeners[n], on ? EPOLLIN : 0);
}

/* At most one line in a second: whoever is called a thousand times says it once. */
static void complain(const struct sockaddr_in *to, int error) {
    static double said;
    double now = now_ms();
    if (said && now - said < 1000.0) return;
    said = now;
    char address[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &to->sin_addr, address, sizeof address);
    fprintf(stderr, "cannot reach %s:%d: %s\n", address, ntohs(to->sin_port), strerror(error));
}

static struct connection *the_dead;

/* `hard`: the other side is told of it as of a failure, not as of an end. */
static void drop(struct connection *one, int hard) {
    if (one->dead) return;
    for (int n = 0; n < 2; n++) {
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        if (hard) setsockopt(one->ends[n].fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(one->ends[n].fd);
    }
    one->dead = 1; /* events of this round may still name it */
    one->next_dead = the_dead;
    the_dead = one;
    connections--;
}

static void bury(void) {
    while (the_dead) {
        struct connection *next = the_dead->next_dead;
        free(the_dead);
        the_dead = next;
    }
    if (is_full && connections < MOST_CONNECTIONS) listen_to_all(1);
}

static void take(struct end *listener) {
    for (;;) {
        if (connections >= MOST_CONNECTIONS) { /* the rest waits in the kernel's queue */
            listen_to_all(0);
            return;
        }
        int came = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (came < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                if (connections > 0) listen_to_all(0); /* until one of them ends */
            return;
        }
        struct connection *one = calloc(1, sizeof *one);
        int goes = one ? socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0) : -1;
        if (goes < 0) {
            free(one);
            close(came);
            return;
        }
        int yes = 1;
        for (int n = 0; n < 2; n++) {
            int fd = n ? goes : came;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes); /* a peer that vanished says nothing */
        }
        one->ends[0] = (struct end){.fd = came, .of = one};
        one->ends[1] = (struct end){.fd = goes, .of = one};
        connections++;
        int failed = connect(goes, (const struct sockaddr *)&listener->to, sizeof listener->to) != 0;
        if (failed && errno != EINPROGRESS) {
            complain(&listener->to, errno);
            drop(one, 1);
            continue;
        }
        one->connecting = 1;
        one->ends[1].to = listener->to;
        watch(&one->ends[0], 0);
        watch(&one->ends[1], EPOLLOUT);
    }
}

/* Reads what there is room for and writes what can be written. Returns 0 where the connection is over. */
static int move(struct connection *one, int n) {
    struct way *way = &one->ways[n];
    int in = one->ends[n].fd, out = one->ends[1 - n].fd;
    for (;;) {
        if (way->size == 0 && !way->ended) {
            way->from = 0;
            ssize_t got = recv(in, way->data, BUFFER, 0);
            if (got > 0) way->size = (size_t)got;
            else if (got == 0) way->ended = 1;
            else if (errno == EINTR) continue;
            else if (errno != EAGAIN && errno != EWOULDBLOCK) return 0;
        }
        if (way->size == 0) break;
        ssize_t sent = send(out, way->data + way->from, way->size, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK) break;
            return 0;
        }
        way->from += (size_t)sent;
        way->size -= (size_t)sent;
    }
    if (way->ended && way->size == 0 && !way->shut) {
        way->shut = 1; /* the other direction may have a lot to say yet */
        if (shutdown(out, SHUT_WR) != 0 && errno != ENOTCONN) return 0;
    }
    return 1;
}

static void arrange(struct connection *one) {
    for (int n = 0; n < 2; n++) {
        struct way *out = &one->ways[n], *in = &one->ways[1 - n];
        uint32_t events = 0;
        if (!out->ended && out->size == 0) events |= EPOLLIN;
        if (in->size > 0) events |= EPOLLOUT;
        want(&one->ends[n], events);
    }
}

static void serve(struct end *end, uint32_t events) {
    struct connection *one = end->of;
    if (one->dead) return;
    if (one->connecting) {
        if (end != &one->ends[1]) { /* it went away before there was anybody to pass it on to */
            if (events & (EPOLLERR | EPOLLHUP)) drop(one, 1);
            return;
        }
        int error = 0;
        socklen_t size = sizeof error;
        getsockopt(end->fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) {
            complain(&one->ends[1].to, error);
            drop(one, 1);
            return;
        }
        one->connecting = 0;
    }
    if (events & EPOLLERR) {
        drop(one, 1);
        return;
    }
    if (!move(one, 0) || !move(one, 1)) {
        drop(one, 1);
        return;
    }
    if (one->ways[0].shut && one->ways[1].shut) drop(one, 0);
    else arrange(one);
}

static void open_port(const char *said) {
    char text[128];
    if (strlen(said) >= sizeof text) fail("%s: too long", said);
    strcpy(text, said);
    char *goes = strchr(text, '=');
    char *port = goes ? strrchr(goes, ':') : NULL;
    if (!goes || !port) fail("%s: not PORT=HOST:PORT", said);
    *goes++ = *port++ = '\0';
    if (listening == MOST_PORTS) fail("more than %d ports", MOST_PORTS);
    struct end *made = &listeners[listening];
    made->to.sin_family = AF_INET;
    made->to.sin_port = htons((uint16_t)number(port, 1, 65535, "port"));
    if (inet_pton(AF_INET, goes, &made->to.sin_addr) != 1) fail("%s: not an address", goes);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number(text, 1, 65535, "port"))};
    made->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    if (made->fd < 0) fail("socket: %s", strerror(errno));
    setsockopt(made->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(made->fd, (struct sockaddr *)&here, sizeof here) != 0 || listen(made->fd, 512) != 0)
        fail("port %s: %s", text, strerror(errno));
    watch(made, EPOLLIN);
    listening++;
}

static int relay(int count, char **ports) {
    if (!count) fail("relay: which ports?");
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    poller = epoll_create1(EPOLL_CLOEXEC);
    if (poller < 0) fail("epoll: %s", strerror(errno));
    for (int n = 0; n < count; n++) open_port(ports[n]);
    struct epoll_event events[EVENTS];
    for (;;) {
        int found = epoll_wait(poller, events, EVENTS, -1);
        if (found < 0 && errno != EINTR) fail("epoll: %s", strerror(errno));
        for (int n = 0; n < found; n++) {
            struct end *end = events[n].data.ptr;
            if (end->of) serve(end, events[n].events);
            else take(end);
        }
        bury();
    }
}

/* ---------------------------------------------------------------------------------------------------------- probe */

enum { MOST_ADDRESSES = 8, MOST_SERVERS = 3, AT_ONCE = 64, PACKET = 4096, NAME = 254, RECORD_A = 1, RECORD_AAAA = 28 };
static const double ASK_AGAIN = 1000.0, TRY_AGAIN = 100.0;

enum step { WAITING, ASKING, CONNECTING, PAUSING, DONE };

struct target {
    char name[NAME];
    int port;      /* 0: only the name */
    int must_hear; /* a refusal is tried again for a while: what listens there may be on its way */
    enum step step;
    int fd;
    uint16_t id;
    int kind, server;
    double began, asked, until, resolved, connected;
    int is_resolved, is_reached;
    struct sockaddr_storage addresses[MOST_ADDRESSES];
    int count, which;
    const char *dns, *error;
};

static struct sockaddr_storage servers[MOST_SERVERS];
static int server_count;
static double patience = 3000.0, listen_patience = 10000.0;

static socklen_t size_of(const struct sockaddr_storage *one) {
    return one->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static int address(const char *text, int port, struct sockaddr_storage *into) {
    memset(into, 0, sizeof *into);
    struct sockaddr_in *four = (struct sockaddr_in *)into;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)into;
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return 1;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        return 1;
    }
    return 0;
}

static void read_servers(void) {
    FILE *file = fopen("/etc/resolv.conf", "re");
    char line[512], text[256];
    while (file && server_count < MOST_SERVERS && fgets(line, sizeof line, file))
        if (sscanf(line, " nameserver %255s", text) == 1 && address(text, 53, &servers[server_count])) server_count++;
    if (file) fclose(file);
}

/* The question as it goes over the wire; 0 where the name cannot be asked for. */
static size_t question(const struct target *one, unsigned char *packet) {
    static const unsigned char head[10] = {1, 0, 0, 1}; /* recursion desired, one question */
    size_t size = 12, length = strlen(one->name);
    packet[0] = (unsigned char)(one->id >> 8);
    packet[1] = (unsigned char)one->id;
    memcpy(packet + 2, head, sizeof head);
    const char *label = one->name;
    while (*label) {
        size_t part = strcspn(label, ".");
        if (part == 0 || part > 63 || size + part + 6 > 12 + 255 + 4) return 0;
        packet[size++] = (unsigned char)part;
        memcpy(packet + size, label, part);
        size += part;
        label += part;
        if (*label == '.') label++;
    }
    if (!length) return 0;
    unsigned char tail[5] = {0, 0, (unsigned char)one->kind, 0, 1};
    memcpy(packet + size, tail, sizeof tail);
    return size + sizeof tail;
}

static void end_with(struct target *one, const char *dns, const char *error) {
    if (one->fd >= 0) close(one->fd);
    one->fd = -1;
    one->step = DONE;
    if (dns) one->dns = dns;
    one->error = error;
}

static void ask(struct target *one) {
    unsigned char packet[512];
    if (one->fd >= 0) close(one->fd); /* a late answer to the last one is not heard */
    const struct sockaddr_storage *server = &servers[one->server++ % server_count];
    if (getrandom(&one->id, sizeof one->id, 0) != sizeof one->id) one->id ^= (uint16_t)now_ms();
    size_t size = question(one, packet);
    one->fd = socket(server->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (one->fd < 0) {
        end_with(one, "no socket", strerror(errno));
        return;
    }
    one->asked = now_ms();
    /* Nobody there is heard as an error of the next reading, and asked again like one that is silent. */
    if (connect(one->fd, (const struct sockaddr *)server, size_of(server)) == 0) send(one->fd, packet, size, MSG_NOSIGNAL);
}

static void begin(struct target *one) {
    unsigned char packet[512];
    struct sockaddr_storage literal;
    one->began = now_ms();
    one->until = one->began + patience;
    if (address(one->name, one->port, &literal)) {
        one->addresses[one->count++] = literal;
        one->is_resolved = 1;
        one->dns = "literal";
        one->step = PAUSING;
        one->until = one->began;
        return;
    }
    one->kind = RECORD_A;
    if (!server_count) end_with(one, "no name server", "there is no name server in /etc/resolv.conf");
    else if (!question(one, packet)) end_with(one, "not a name", "that cannot be asked for in DNS");
    else {
        one->step = ASKING;
        ask(one);
    }
}

static size_t skip_name(const unsigned char *packet, size_t size, size_t at) {
    while (at < size) {
        unsigned length = packet[at];
        if (length == 0) return at + 1;
        if (length >= 0xC0) return at + 2;
        at += length + 1;
    }
    return size + 1;
}

static const char *failure(int code) {
    switch (code) {
    case 1: return "FORMERR";
    case 2: return "SERVFAIL";
    case 3: return "NXDOMAIN";
    case 4: return "NOTIMP";
    case 5: return "REFUSED";
    default: return "failed";
    }
}

static void try_next(struct target *one);

static void start_connecting(struct target *one) {
    one->resolved = now_ms();
    one->is_resolved = 1;
    if (!one->port) {
        end_with(one, "ok", NULL);
        return;
    }
    one->dns = "ok";
    one->until = one->resolved + (one->must_hear ? listen_patience : patience);
    one->which = 0;
    try_next(one);
}

/* Returns whether that was an answer to what was asked. */
static int understood(struct target *one, const unsigned char *packet, size_t size) {
    unsigned char asked[512];
    size_t length = question(one, asked);
    /* The same question must come back, letters as they were sent: anybody could send a packet. */
    if (size < length || packet[0] != asked[0] || packet[1] != asked[1] || !(packet[2] & 0x80)) return 0;
    if (strncasecmp((const char *)packet + 12, (const char *)asked + 12, length - 12) != 0) return 0;
    int code = packet[3] & 15;
    unsigned answers = (unsigned)packet[6] << 8 | packet[7];
    size_t at = length;
    for (unsigned n = 0; n < answers && one->count < MOST_ADDRESSES; n++) {
        at = skip_name(packet, size, at);
        if (at + 10 > size) break;
        unsigned kind = (unsigned)packet[at] << 8 | packet[at + 1], room = (unsigned)packet[at + 8] << 8 | packet[at + 9];
        at += 10;
        if (at + room > size) break;
        char text[INET6_ADDRSTRLEN];
        int family = kind == RECORD_A && room == 4 ? AF_INET : kind == RECORD_AAAA && room == 16 ? AF_INET6 : 0;
        if (family && inet_ntop(family, packet + at, text, sizeof text))
            one->count += address(text, one->port, &one->addresses[one->count]);
        at += room;
    }
    if (one->count) start_connecting(one);
    else if (code) end_with(one, failure(code), "the name is not known");
    else if (one->kind == RECORD_A) {
        one->kind = RECORD_AAAA;
        ask(one);
    } else end_with(one, "no address", "the name has no address");
    if (code == 2) one->error = "the name server failed";
    return 1;
}

static void hear(struct target *one) {
    unsigned char packet[PACKET];
    for (;;) {
        ssize_t got = recv(one->fd, packet, sizeof packet, 0);
        if (got < 0) return; /* asked again when its time comes */
        if (got >= 12 && understood(one, packet, (size_t)got)) return;
    }
}

static const char *words(int error) {
    switch (error) {
    case ECONNREFUSED: return "refused";
    case ETIMEDOUT: return "timeout";
    case EHOSTUNREACH: return "no route to the host";
    case ENETUNREACH: return "the network is unreachable";
    default: return strerror(error);
    }
}

static void missed(struct target *one, int error) {
    if (one->fd >= 0) close(one->fd);
    one->fd = -1;
    one->error = words(error);
    one->which++;
    if (one->which < one->count) {
        try_next(one);
        return;
    }
    if (error == ECONNREFUSED && one->must_hear && now_ms() + TRY_AGAIN < one->until) {
        one->which = 0;
        one->step = PAUSING;
        one->asked = now_ms();
        return;
    }
    one->step = DONE;
}

static void try_next(struct target *one) {
    const struct sockaddr_storage *to = &one->addresses[one->which];
    if (one->fd >= 0) close(one->fd);
    one->fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    one->asked = now_ms();
    one->step = CONNECTING;
    if (one->fd < 0) missed(one, errno);
    else if (connect(one->fd, (const struct sockaddr *)to, size_of(to)) != 0 && errno != EINPROGRESS) missed(one, errno);
}

static void connected(struct target *one) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(one->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        missed(one, error);
        return;
    }
    one->connected = now_ms() - one->asked;
    one->is_reached = 1;
    end_with(one, NULL, NULL);
}

/* What is due by the clock. Returns the milliseconds until the next is. */
static double tick(struct target *one) {
    double now = now_ms();
    if (one->step == PAUSING) {
        double due = one->asked + TRY_AGAIN;
        if (one->dns && !strcmp(one->dns, "literal") && !one->resolved) {
            start_connecting(one);
            return 0;
        }
        if (now < due) return due - now;
        try_next(one);
        now = now_ms();
    }
    if (one->step == ASKING) {
        if (now >= one->until) {
            end_with(one, "no answer", "no name server answers");
            return 0;
        }
        if (now >= one->asked + ASK_AGAIN) ask(one);
        double due = one->asked + ASK_AGAIN < one->until ? one->asked + ASK_AGAIN : one->until;
        return due > now ? due - now : 0;
    }
    if (one->step == CONNECTING) {
        double due = one->asked + patience;
        if (now >= due) {
            missed(one, ETIMEDOUT);
            return 0;
        }
        return due - now;
    }
    return 0;
}

static void quoted(const char *text) {
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 32 || c > 126) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}

static void tell(const struct target *one) {
    fputs("{\"name\":", stdout);
    quoted(one->name);
    if (one->port) printf(",\"port\":%d", one->port);
    else fputs(",\"port\":null", stdout);
    fputs(",\"dns\":", stdout);
    quoted(one->dns ? one->dns : "no answer");
    fputs(",\"addresses\":[", stdout);
    for (int n = 0; n < one->count; n++) {
        char text[INET6_ADDRSTRLEN] = "";
        const struct sockaddr_storage *from = &one->addresses[n];
        const void *raw = from->ss_family == AF_INET ? (const void *)&((const struct sockaddr_in *)from)->sin_addr
                                                     : (const void *)&((const struct sockaddr_in6 *)from)->sin6_addr;
        inet_ntop(from->ss_family, raw, text, sizeof text);
        if (n) putchar(',');
        quoted(text);
    }
    printf("],\"dnsMs\":%.3f", one->resolved ? one->resolved - one->began : 0.0);
    if (!one->port) fputs(",\"reachable\":null", stdout);
    else printf(",\"reachable\":%s", one->is_reached ? "true" : "false");
    if (one->is_reached) printf(",\"ms\":%.3f", one->connected);
    else fputs(",\"ms\":null", stdout);
    fputs(",\"error\":", stdout);
    if (one->error) quoted(one->error);
    else fputs("null", stdout);
    fputs("}\n", stdout);
}

static void read_target(const char *said, struct target *into) {
    size_t length = strlen(said);
    const char *colon = strrchr(said, ':');
    memset(into, 0, sizeof *into);
    into->fd = -1;
    if (length && said[length - 1] == '!') into->must_hear = 1;
    size_t name = colon ? (size_t)(colon - said) : length;
    if (!name || name >= NAME) fail("%s: not a name", said);
    memcpy(into->name, said, name);
    if (colon) {
        char text[8] = "";
        size_t digits = length - name - 1 - (size_t)into->must_hear;
        if (digits >= sizeof text) fail("%s: not a port", said);
        memcpy(text, colon + 1, digits);
        into->port = (int)number(text, 1, 65535, "port");
    }
}

static int probe(int count, char **words_given) {
    long hold = 0;
    while (count >= 2 && words_given[0][0] == '-') {
        long value = number(words_given[1], 0, 600000, "number");
        if (!strcmp(words_given[0], "-t")) patience = (double)value;
        else if (!strcmp(words_given[0], "-w")) listen_patience = (double)value;
        else if (!strcmp(words_given[0], "-h")) hold = value;
        else fail("%s: not known", words_given[0]);
        count -= 2;
        words_given += 2;
    }
    struct target *targets = calloc((size_t)count + 1, sizeof *targets);
    if (!targets) fail("no memory");
    for (int n = 0; n < count; n++) read_target(words_given[n], &targets[n]);
    read_servers();
    int next = 0, done = 0;
    while (done < count) {
        struct pollfd polled[AT_ONCE];
        struct target *whose[AT_ONCE];
        int several = 0, active = 0;
        double wait = 1000.0;
        for (int n = 0; n < count && active < AT_ONCE; n++) {
            struct target *one = &targets[n];
            if (one->step == WAITING && n >= next) {
                next = n + 1;
                begin(one);
            }
            if (one->step == DONE) {
                if (one->began >= 0) { /* told once, as soon as it is known */
                    tell(one);
                    fflush(stdout);
                    one->began = -1;
                    done++;
                }
                continue;
            }
            active++;
            double due = tick(one);
            if (one->step == DONE) due = 0;
            if (due < wait) wait = due;
            if ((one->step == ASKING || one->step == CONNECTING) && one->fd >= 0) {
                polled[several] = (struct pollfd){.fd = one->fd, .events = one->step == ASKING ? POLLIN : POLLOUT};
                whose[several++] = one;
            }
        }
        if (done == count) break;
        if (poll(polled, (nfds_t)several, (int)wait + (wait > (int)wait)) < 0 && errno != EINTR)
            fail("poll: %s", strerror(errno));
        for (int n = 0; n < several; n++) {
            if (!polled[n].revents) continue;
            if (whose[n]->step == ASKING) hear(whose[n]);
            else if (whose[n]->step == CONNECTING) connected(whose[n]);
        }
    }
    /* Whoever reads this may be a moment late, and a container that ended may be gone with all that it said. */
    if (hold) sleep((unsigned)hold);
    return 0;
}

int main(int count, char **arguments) {
    signal(SIGTERM, on_end);
    signal(SIGINT, on_end);
    signal(SIGPIPE, SIG_IGN);
    if (count >= 2 && !strcmp(arguments[1], "relay")) return relay(count - 2, arguments + 2);
    if (count >= 2 && !strcmp(arguments[1], "probe")) return probe(count - 2, arguments + 2);
    fail("relay PORT=HOST:PORT …, or probe [-t MS] [-w MS] [-h S] NAME[:PORT[!]] …");
}
