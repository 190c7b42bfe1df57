Feature: Health
  A broker reports its health over HTTP. It is healthy while it uses less than 90 percent of its memory.

  @HEALTH-001 @HEALTH-002 @HEALTH-003 @HEALTH-004 @HEALTH-006
  Scenario: A healthy broker
    When an HTTP client requests "/health/"
    Then the HTTP status is 200
    And the JSON of the answer has:
      | status                   | healthy   |
      | is_healthy               | true      |
      | active_connections       | integer   |
      | queue_count              | integer   |
      | in_flight_messages       | integer   |
      | total_messages_published | integer   |
      | total_messages_delivered | integer   |
      | memory_usage_mb          | integer   |
      | timestamp                | timestamp |

  @HEALTH-005 @HEALTH-010
  Scenario: A broker that uses 90 percent of its memory
    Given a broker with these settings:
      | memoryLimit | 1 MiB |
    When an HTTP client requests "/health/"
    Then the HTTP status is 503
    And the JSON of the answer has:
      | status     | unhealthy |
      | is_healthy | false     |

  @HEALTH-012
  Scenario: The last slash is optional
    When an HTTP client requests "/health"
    Then the HTTP status is 200
    And the JSON of the answer has:
      | status | healthy |

  @HEALTH-013
  Scenario: Parameters are ignored
    When an HTTP client requests "/health/?verbose=1&color=blue"
    Then the HTTP status is 200

  @HEALTH-007 @HEALTH-008
  Scenario: Connections and queues are counted
    Given the numbers of "/health/" are noted
    When the client creates queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    Then these numbers of "/health/" have changed by:
      | active_connections | 2 |
      | queue_count        | 2 |
    When the publisher disconnects
    And the client deletes queue "orders"
    Then these numbers of "/health/" have changed by:
      | active_connections | 1 |
      | queue_count        | 1 |

  @HEALTH-003
  Scenario: Messages are counted
    Given the numbers of "/health/" are noted
    When the publisher publishes messages "m1 to m5" to queue "orders"
    And the subscriber subscribes to queue "orders" for at most 2 messages at a time
    Then these numbers of "/health/" have changed by:
      | total_messages_published | 5 |
      | total_messages_delivered | 2 |
      | in_flight_messages       | 2 |

  @HTTP-007 @HTTP-001
  Scenario: An unknown path is answered by 404
    When an HTTP client requests "/nothing/here"
    Then the HTTP status is 404
    And the answer is a problem document

  @HTTP-008 @HTTP-001
  Scenario Outline: <method> is not allowed
    When an HTTP client sends <method> to "/health/"
    Then the HTTP status is 405
    And the answer is a problem document

    Examples:
      | method |
      | POST   |
      | PUT    |
      | DELETE |

  @HTTP-002 @HTTP-001
  Scenario: A request with an unknown Host header is refused
    When an HTTP client requests "/health/" from the host "rebound.example"
    Then the HTTP status is 421
    And the answer is a problem document

  @HTTP-003
  Scenario: Cross-origin requests are not allowed
    When an HTTP client requests "/health/" from the origin "https://elsewhere.example"
    Then the answer has no header "access-control-allow-origin"
