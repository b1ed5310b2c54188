// SPDX-License-Identifier: Apache-2.0
/* main.c: options, then the application, then the service, confined, until a signal ends it. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "config.h"
#include "healthcheck.h"
#include "log.h"
#include "sandbox.h"

#define EXIT_USAGE    2
#define ELEMENT_BYTES ((size_t)8)

static struct app_options app_options_from(const struct config *config)
{
    return (struct app_options){
        .elements_max = (size_t)config->elements_max,
        .text_elements_max = (size_t)config->text_elements_max,
        .body_max = (size_t)config->body_max,
        .workers = (unsigned)config->workers,
        .queue = (unsigned)config->queue,
        .deadline_ms = (unsigned)config->deadline_ms,
        .memory_max = (size_t)config->memory_max,
        .connections_max = (unsigned)config->connections_max,
        .peer_connections_max = (unsigned)config->peer_connections_max,
    };
}

static struct http_options http_options_from(const struct config *config)
{
    return (struct http_options){
        .listen = config->listen,
        .workers = (unsigned)config->workers,
        .queue = (unsigned)config->queue,
        .body_max = (size_t)config->body_max,
        /* tensors of a request and of its answer, a working copy, and whatever else it says */
        .arena_max = 3 * ELEMENT_BYTES * (size_t)config->elements_max + ((size_t)64 << 20),
        .deadline_ms = (unsigned)config->deadline_ms,
        .memory_max = (size_t)config->memory_max,
        .connections_max = (unsigned)config->connections_max,
        .peer_connections_max = (unsigned)config->peer_connections_max,
        .ready_fd = (int)config->ready_fd,
    };
}

static enum log_format log_format_from(const char *name)
{
    return strcmp(name, "json") == 0 ? LOG_JSON : strcmp(name, "off") == 0 ? LOG_OFF : LOG_TEXT;
}

static bool is_draining(void *service)
{
    return http_draining(service);
}

static int serve(const struct config *config)
{
    const struct app_options app_options = app_options_from(config);
    const struct http_options http_options = http_options_from(config);
    if (!config->no_sandbox && !sandbox_prepare())
        return EXIT_FAILURE;
    struct app *app = app_new(&app_options);
    if (!app)
        return EXIT_FAILURE;

    const struct http_hooks hooks = app_hooks(app);
    struct http_service *service = http_start(&http_options, &hooks);
    int status = EXIT_FAILURE;
    if (service) {
        app->draining = is_draining;
        app->draining_context = service;
        if (config->no_sandbox || sandbox_enter())
            status = http_run(service);
        http_free(service);
    }
    app_free(app);
    return status;
}

int main(int arguments_n, char **arguments)
{
    struct config config;
    if (!config_read(&config, arguments_n, arguments))
        return EXIT_USAGE;
    if (config.help)
        config_help(stdout);
    else if (config.version)
        printf("posencd %s\n", API_SERVICE_VERSION);
    else if (config.print_config)
        config_print(stdout, &config);
    else if (config.healthcheck)
        return healthcheck(config.healthcheck);
    else {
        log_set_format(log_format_from(config.log_format));
        return serve(&config);
    }
    return EXIT_SUCCESS;
}
