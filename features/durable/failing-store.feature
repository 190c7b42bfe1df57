Feature: A store that fails
  When a commit fails, none of its changes has become visible. The broker drops its state, disconnects all clients, and recovers
  from the store as soon as the store works again.

  @DURABLE-017 @DURABLE-018
  Scenario: A publish that cannot be saved is not confirmed, and every client receives a Disconnect
    Given a broker with a durable store
    And the subscriber subscribes to queue "orders"
    When the disk is full
    And the publisher publishes message "m1" to queue "orders"
    Then message "m1" of the publisher is refused with STORAGE_ERROR
    And message "m1" is not confirmed to the publisher
    And the publisher receives a Disconnect whose header "reason" is "storage_error"
    And the broker closes the connection of the publisher
    And the subscriber receives a Disconnect whose header "reason" is "storage_error"
    And the broker closes the connection of the subscriber
    And the subscriber receives no message

  @DURABLE-020
  Scenario: No client can connect while the store fails
    Given a broker with a durable store
    And queue "orders" exists
    When the disk is full
    And the publisher publishes message "m1" to queue "orders"
    Then message "m1" of the publisher is refused with STORAGE_ERROR
    And another client is refused at Connect with STORAGE_ERROR

  @DURABLE-019 @DURABLE-021
  Scenario: The broker recovers automatically and has all confirmed messages
    Given a broker with a durable store
    And the publisher publishes messages "m1, m2" to queue "orders"
    And messages "m1, m2" are confirmed to the publisher
    When the disk is full
    And the publisher publishes message "m3" to queue "orders"
    Then message "m3" of the publisher is refused with STORAGE_ERROR
    When the disk has room again
    And another client connects again as soon as the broker accepts it
    And another client subscribes to queue "orders"
    Then another client receives messages "m1, m2"
