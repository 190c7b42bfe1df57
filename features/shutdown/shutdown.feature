Feature: Shutdown
  A broker that is told to stop takes no new work, tells its clients, lets what is in flight be acknowledged, and ends.

  @SHUTDOWN-001 @SHUTDOWN-009 @SHUTDOWN-012
  Scenario: A broker without clients ends at once
    When the broker is told to stop
    Then the broker ends in good order
    And no new connection is served

  @SHUTDOWN-004 @SHUTDOWN-008 @SHUTDOWN-011
  Scenario: Clients with nothing in flight are told, and disconnected at once
    Given the client is connected
    When the broker is told to stop
    Then the client receives a Disconnect whose header "reason" is "server_shutdown"
    And the broker closes the connection of the client
    And the broker ends in good order

  @SHUTDOWN-002 @SHUTDOWN-006 @SHUTDOWN-011
  Scenario: A message in flight may still be acknowledged
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    Then the subscriber receives a Disconnect whose header "reason" is "server_shutdown"
    And the broker closes the connection of the publisher
    And the broker has not ended
    When the subscriber acknowledges message "m1"
    Then the broker closes the connection of the subscriber
    And the broker ends in good order

  @SHUTDOWN-001
  Scenario: New connections are not served while it waits
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    Then the broker has not ended
    And no new connection is served

  @SHUTDOWN-006
  Scenario: Pings are answered while it waits
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    And the subscriber sends a Ping with id "ping-1"
    Then the subscriber receives a Pong with id "ping-1"

  @SHUTDOWN-007
  Scenario: Every other command is refused while it waits
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    And the subscriber sends in one piece:
      | command     | id     | queue    |
      | Publish     | m2     | payments |
      | Subscribe   | sub    | payments |
      | Unsubscribe | unsub  | orders   |
      | CreateQueue | create | payments |
      | DeleteQueue | delete | orders   |
      | QueueInfo   | info   | orders   |
      | ListQueues  | list   |          |
    Then the subscriber receives Error SHUTTING_DOWN with each of the ids "m2, sub, unsub, create, delete, info, list"

  @SHUTDOWN-005
  Scenario: Nothing is delivered any more
    Given the publisher publishes messages "m1 to m3" to queue "orders"
    And subscriber A subscribes to queue "orders" for at most 1 message at a time
    And subscriber A subscribes to queue "payments"
    And the publisher publishes message "p1" to queue "payments"
    And subscriber A receives messages "m1, p1"
    When the broker is told to stop
    And subscriber A acknowledges message "m1"
    Then subscriber A receives no further message

  @SHUTDOWN-005
  Scenario: Nothing is delivered again
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    And 5 s pass
    Then the subscriber receives no further message

  @SHUTDOWN-002 @SHUTDOWN-011 @SHUTDOWN-009
  Scenario: It does not wait for ever
    Given a broker with these settings:
      | shutdownTimeout | 8 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    Then the broker has not ended
    When 8 s pass
    Then the broker closes the connection of the subscriber
    And the broker ends in good order

  @SHUTDOWN-012
  Scenario: It ends when the last subscriber with something in flight goes
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is told to stop
    And the connection of the subscriber breaks
    Then the broker ends in good order

  @SHUTDOWN-005 @SHUTDOWN-007
  Scenario: A publish that waits for room is refused
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1, m2" to queue "orders"
    When the broker is told to stop
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with SHUTTING_DOWN
