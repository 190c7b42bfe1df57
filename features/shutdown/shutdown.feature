Feature: Shutdown
  A broker that is stopped accepts no new commands, sends each client a Disconnect, waits for the acks of messages in flight, and
  ends.

  @SHUTDOWN-001 @SHUTDOWN-009 @SHUTDOWN-012
  Scenario: A broker without clients stops immediately
    When the broker is stopped
    Then the broker stops normally
    And no new connection is served

  @SHUTDOWN-004 @SHUTDOWN-008 @SHUTDOWN-013
  Scenario: Clients without messages in flight are disconnected immediately
    Given the client is connected
    When the broker is stopped
    Then the client receives a Disconnect whose header "reason" is "server_shutdown"
    And the broker closes the connection of the client
    And the broker stops normally

  @SHUTDOWN-002 @SHUTDOWN-006 @SHUTDOWN-011
  Scenario: A message in flight may still be acknowledged
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    Then the subscriber receives a Disconnect whose header "reason" is "server_shutdown"
    And the broker closes the connection of the publisher
    And the broker is still running
    And no new connection is served
    When the subscriber acknowledges message "m1"
    Then the broker closes the connection of the subscriber
    And the broker stops normally

  @SHUTDOWN-001
  Scenario: During a shutdown new connections are not served
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    Then the broker is still running
    And no new connection is served

  @SHUTDOWN-006
  Scenario: During a shutdown pings are answered
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    And the subscriber sends a Ping with id "ping-1"
    Then the subscriber receives a Pong with id "ping-1"

  @SHUTDOWN-007
  Scenario: During a shutdown every other command is refused
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
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
  Scenario: During a shutdown no message is delivered
    Given the publisher publishes messages "m1 to m3" to queue "orders"
    And subscriber A subscribes to queue "orders" for at most 1 message at a time
    And subscriber A subscribes to queue "payments"
    And the publisher publishes message "p1" to queue "payments"
    And subscriber A receives messages "m1, p1"
    When the broker is stopped
    And subscriber A acknowledges message "m1"
    Then subscriber A receives no further message

  @SHUTDOWN-005
  Scenario: During a shutdown no message is delivered again
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    And 5 s pass
    Then the subscriber receives no further message

  @SHUTDOWN-002 @SHUTDOWN-009
  Scenario: The shutdown ends after shutdownTimeout
    Given a broker with these settings:
      | shutdownTimeout | 8 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    Then the broker is still running
    When 8 s pass
    Then the broker closes the connection of the subscriber
    And the broker stops normally

  @SHUTDOWN-012
  Scenario: The shutdown ends when the last subscriber with messages in flight leaves
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the broker is stopped
    And the connection of the subscriber breaks
    Then the broker stops normally

  @SHUTDOWN-005 @SHUTDOWN-007
  Scenario: A blocked publish is refused
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1, m2" to queue "orders"
    When the broker is stopped
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with SHUTTING_DOWN
