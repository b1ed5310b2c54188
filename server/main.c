// SPDX-License-Identifier: Apache-2.0
/*
 * main.c: options, then the application, then the service, confined, until a signal ends it; or
 * one of the things that are done at once.
 */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "config.h"
#include "eval.h"
#include "export.h"
#include "healthcheck.h"
#include "log.h"
#include "sandbox.h"
#include "settings.h"

#define EXIT_USAGE 2

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
    const struct app_options app_options = settings_app(config);
    const struct http_options http_options = settings_http(config);
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
    else if (config.eval)
        return eval(&config);
    else if (config.export_fixtures)
        return export_fixtures(&config);
    else {
        log_set_format(log_format_from(config.log_format));
        return serve(&config);
    }
    return EXIT_SUCCESS;
}
